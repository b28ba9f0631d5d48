"""`sudare studio`: the whole walk in a browser, from a file to a certificate."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from threading import Timer
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.output import say
from sudare.errors import InputError
from sudare.tables.databases import load_extra

if TYPE_CHECKING:
    from starlette.applications import Starlette

HERE = "127.0.0.1"
LEAST_PASSWORD = 12


def studio(
    source: Annotated[
        str | None,
        typer.Argument(
            help="A file, a folder with parts, a database URL, or a project of the studio.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    projects: Annotated[
        Path,
        typer.Option(
            help="The folder in which projects, uploads and releases are kept; only you can look into it."
        ),
    ] = Path("~/sudare-studio"),
    port: Annotated[int, typer.Option(help="The port; 0 takes one that is free.", min=0, max=65535)] = 0,
    host: Annotated[
        str | None,
        typer.Option(
            help="Answer to other machines at this address, too. It needs a password, and nothing is encrypted.",
            show_default="this machine only",
        ),
    ] = None,
    password: Annotated[
        str | None,
        typer.Option(
            help="The password that --host needs; other users see what stands on a command line.",
            envvar="SUDARE_STUDIO_PASSWORD",
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Walk from a file to a certificate in a browser, on this machine; nothing is sent anywhere."""
    if host is None and password is not None:
        raise InputError(
            "A password is asked for with --host only: on this machine, the address itself has a secret."
        )
    if host is not None and (password is None or len(password) < LEAST_PASSWORD):
        raise InputError(
            f"--host lets other machines in. Give a password of at least {LEAST_PASSWORD} signs: set SUDARE_STUDIO_PASSWORD."
        )
    for module in ("uvicorn", "starlette"):
        load_extra(module, "The studio", "studio")
    with _listening(host or HERE, port) as listening:
        app, address = _prepared(source, projects.expanduser().absolute(), host, listening, password)
        with _opening(address, projects.expanduser().absolute()) as page:
            if browser:
                Timer(0.5, webbrowser.open, [page]).start()
            _served(app, listening)


@contextmanager
def _opening(address: str, home: Path) -> Iterator[str]:
    """Name a page that leads to an address: every user of a machine sees with which address a browser is started."""
    from sudare.studio.project import touched

    file = touched(home / f"open-{secrets.token_hex(4)}.html")
    file.write_text(f'<meta http-equiv="refresh" content="0; url={escape(address)}">', "utf-8")
    try:
        yield file.as_uri()
    finally:
        file.unlink(missing_ok=True)


def _prepared(
    source: str | None, home: Path, host: str | None, listening: socket.socket, password: str | None
) -> tuple[Starlette, str]:
    """Make the application, open what was named, and say at which address it is."""
    from sudare.studio.app import studio_app
    from sudare.studio.start import opened

    token = secrets.token_urlsafe(32)
    port = listening.getsockname()[1]
    hosts = None if host is not None else {f"{HERE}:{port}", f"localhost:{port}"}
    app = studio_app(home, token, hosts=hosts, password=password)
    path = f"/p/{opened(app.state.studio, source).id}/roles" if source is not None else "/"
    address = f"http://{host or HERE}:{port}{path}"
    if host is None:
        address += f"?token={token}"
    else:
        say(
            "[yellow]Warning:[/] other machines can reach the studio, and nothing on the way is encrypted: who listens sees the "
            "password and the data. Better: run it here, and reach it through ssh -L."
        )
    say("The studio is at [b]{}[/]", address)
    say("Projects are in {}. Ctrl-C ends it.", home)
    return app, address


def _served(app: Starlette, listening: socket.socket) -> None:
    """Serve pages until Ctrl-C."""
    import uvicorn

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            app.state.studio.end()  # first, so that no page waits for work
            super().handle_exit(sig, frame)

    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2
    )
    try:
        Server(settings).run(sockets=[listening])
    finally:
        app.state.studio.end()


def _listening(host: str, port: int) -> socket.socket:
    """Listen before anything else is done, so that a port that is taken is said at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # a browser that comes before all is ready waits, and is not refused
    except OSError as error:
        listening.close()
        raise InputError(
            f"The studio cannot listen at {host}, port {port}: {error.strerror}. Give another --port."
        ) from None
    return listening
