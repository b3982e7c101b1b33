"""Transcripts and training data from one format into another, with a receipt.

    converted = convert_rows(rows, get_format("sharegpt"), get_format("openai"))

Every format reads rows to a `RecordedConversation`, which is a request of the interlingua and what
a file says beside it, and writes rows from one. Files are the business of `toolglot convert`.
"""

from toolglot.convert.conversion import Converted, convert_rows
from toolglot.convert.format import Format
from toolglot.convert.formats import FORMATS, UnknownFormatError, get_format, recognise
from toolglot.convert.transcript import RecordedConversation

__all__ = [
    "FORMATS",
    "Converted",
    "Format",
    "RecordedConversation",
    "UnknownFormatError",
    "convert_rows",
    "get_format",
    "recognise",
]
