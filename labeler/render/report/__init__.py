"""The report: one HTML file about one run, or about two of them compared.

It needs only a browser: no server, no network, no second file. A `ReportSource` holds everything
that it is made from.
"""

from labeler.render.report.build import make_report
from labeler.render.report.context import ReportRequest, ReportSource
