"""The report: one HTML file about one run, or about two of them compared.

It needs nothing but a browser: no server, no network, no second file. A `ReportSource` holds
all that it is made from.
"""

from labeler.render.report.build import make_report
from labeler.render.report.context import ReportRequest, ReportSource
