"""Receipts of requests that were answered."""

from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.json_response import json_response
from toolglot.gateway.relay.receipt_log import ReceiptLog
from toolglot.gateway.routes.route import PlainRequest, Route
from toolglot.http1.server_response import WholeHttpResponse


def receipt_routes(receipts: ReceiptLog) -> tuple[Route, ...]:
    """The routes of receipts."""

    async def receipt(request: PlainRequest) -> WholeHttpResponse:
        """What was changed in a request of the same client and in its answer."""
        number = request.http.match["id"]
        found = receipts.get(request.owner, number)
        if found is None:
            words = f"no receipt of {number}: only the latest are stored (receipts in [server])"
            raise RequestRejectedError(errors.not_found(words))
        return json_response(found)

    async def latest(request: PlainRequest) -> WholeHttpResponse:
        """The receipts of the same client, the oldest first."""
        return json_response({"object": "list", "data": receipts.of(request.owner)})

    return (
        Route("GET", "/toolglot/receipts", latest),
        Route("GET", "/toolglot/receipts/{id:.+}", receipt),
    )
