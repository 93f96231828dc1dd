"""The server's process: prints the address once it answers, opens a browser, stops on Ctrl-C.

`labeler.cli.server` runs this file as a script, ``launch.py HOST PORT yes|no PAGE ARGUMENT...``;
the arguments are Streamlit's, the page is a path or empty. It imports nothing from labeler.
"""

from __future__ import annotations

import http.client
import os
import runpy
import signal
import sys
import threading
import time
import webbrowser

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def main(host: str, port: int, browser: bool, page: str, arguments: list[str]) -> None:
    """Become Streamlit, watched by a thread that ends when the server answers."""
    watch = threading.Thread(target=announce, args=(host, port, browser, page), daemon=True)

    # After it has stopped, Streamlit's server raises Ctrl-C again, and its command line would then
    # print "Aborted!" and fail. Before it has started, there is nothing to stop, and some
    # callbacks, such as those of import locks, would ignore an exception.
    def stop(_number: int, _frame: object) -> None:
        if watch.is_alive():
            os._exit(0)
        sys.exit(0)

    signal.signal(signal.SIGINT, stop)
    watch.start()
    sys.argv = ["streamlit", *arguments]
    runpy.run_module("streamlit", run_name="__main__")


def announce(host: str, port: int, browser: bool, page: str) -> None:
    """Wait until the server answers, then print its address and open the browser."""
    near = EVERYWHERE.get(host, host)
    while not answers(near, port):
        time.sleep(0.1)
    address = address_of(host, port) + page
    more = " and this machine's other addresses" if near != host else ""
    sys.stdout.write(f"labeler is at {address}{more}; Ctrl-C stops it\n")
    sys.stdout.flush()
    if browser:
        webbrowser.open(address)


def address_of(host: str, port: int) -> str:
    """Return the address at which this machine reaches a server that listens on ``host``."""
    near = EVERYWHERE.get(host, host)
    return f"http://{f'[{near}]' if ':' in near else near}:{port}"


def answers(host: str, port: int) -> bool:
    """Return whether the server is ready for a browser."""
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "yes", sys.argv[4], sys.argv[5:])
