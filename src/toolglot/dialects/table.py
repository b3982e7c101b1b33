"""The dialects: one row each, over the engines of this package.

The order settles which dialect a text is in when several could have written it.
"""

from typing import Final

from toolglot.dialects.rows.bare import bare
from toolglot.dialects.rows.invokes import invokes
from toolglot.dialects.rows.others import others
from toolglot.dialects.rows.python import python
from toolglot.dialects.rows.special_tokens import tokens
from toolglot.dialects.rows.tagged import tagged
from toolglot.dialects.rows.xml import elements

FAMILIES: Final = (tagged, elements, invokes, tokens, python, others, bare)
DIALECTS: Final = {row.name: row for family in FAMILIES for row in family()}
