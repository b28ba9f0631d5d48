"""Who may talk to the studio, and what its pages may do: asked before any page is made, and said with every answer."""

from __future__ import annotations

import hashlib
import secrets
from asyncio import Lock, sleep
from collections.abc import Collection
from urllib.parse import quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sudare.studio.peers import is_anothers
from sudare.studio.texts import said

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
"""What a page may load: scripts and styles from files of the studio, nothing that stands in a page, nothing from elsewhere."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # "no-referrer" would take the origin from forms, by which we know them
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
SAFE = ("GET", "HEAD")
MAX_PASSWORD = 1_000
PAUSE = 1.0  # seconds after a wrong one
LATER = 31_536_000  # seconds that a browser keeps who it is; the studio forgets it when it ends


class Guard:
    """Lets nobody in who does not know the token, and no page of another origin send anything.

    A browser shows the token once, in the address; from then on it has a cookie that scripts cannot read and other sites cannot
    send. Only names of this machine are answered to, so that no foreign name can be pointed at it. A browser sends cookies to
    every port of a machine, also to one that another user listens at; so, where that can be told, only one's own user is answered.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str] | None, password: str | None) -> None:
        self._app = app
        self._token = token
        self._hosts = hosts
        self._password = password
        self._asking = Lock()
        self._cookie = f"sudare-{hashlib.sha256(token.encode()).hexdigest()[:8]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope, receive)
        refusal = await self._refusal(request)
        await (refusal or self._app)(scope, receive, with_headers)

    async def _refusal(self, request: Request) -> Response | None:
        """Return what is answered instead of a page; None for who may see it."""
        if self._hosts is not None and request.headers.get("host", "") not in self._hosts:
            return PlainTextResponse("This studio answers to its own address only.", 421)
        if self._password is None and is_anothers(request.scope.get("client"), request.scope.get("server")):
            return PlainTextResponse("This studio is of another user of this machine.", 403)
        if request.method not in SAFE and not _same_origin(request.headers):
            return PlainTextResponse("This was sent by another page than the studio's.", 403)
        if request.url.path.startswith("/static/"):  # the same for everybody, and nothing of anybody
            return None
        if (given := request.query_params.get("token")) is not None and self._password is None:
            return self._entered(request) if _same(given, self._token) else _closed(request)
        if _same(request.cookies.get(self._cookie, ""), self._token):
            return None
        if self._password is None:
            return _closed(request)
        if request.method == "POST" and request.url.path == "/enter":
            given = await _password_of(request)  # before the turn: who sends it slowly keeps nobody waiting
            async with self._asking:  # one at a time, so that many cannot be tried at once
                right = _same(given, self._password)
                if not right:
                    await sleep(PAUSE)
            return self._entered(request) if right else _asked(request, wrong=True)
        return _asked(request, wrong=False)

    def _entered(self, request: Request) -> Response:
        """Remember who it is, and go on without the token in the address."""
        rest = [(key, value) for key, value in request.query_params.multi_items() if key != "token"]
        path = "/" if request.method == "POST" else quote(request.url.path)
        to = f"{path}?{urlencode(rest)}" if rest else path
        answer: Response = RedirectResponse(to, 303)
        if request.headers.get("sec-fetch-site") == "cross-site":  # from the file that opens the browser
            answer = HTMLResponse(
                "", headers={"Refresh": f"0; url={to}"}
            )  # a redirect would come without the cookie
        secure = request.url.scheme == "https"
        answer.set_cookie(
            self._cookie, self._token, LATER, httponly=True, samesite="strict", secure=secure, path="/"
        )
        return answer


async def _password_of(request: Request) -> str:
    """Read what was typed, and no more than a password can be."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_PASSWORD * 4:
            return ""
    return QueryParams(body.decode("utf-8", "replace")).get("password", "")


def _same(given: str, known: str) -> bool:
    """Compare without telling by the time how much is right."""
    return secrets.compare_digest(given.encode(), known.encode())


def _same_origin(headers: Headers) -> bool:
    """Tell whether a page of the studio sent it: browsers say where from, with all that changes something."""
    return urlsplit(headers.get("origin", "")).netloc == headers.get("host", "-")


def _closed(request: Request) -> Response:
    return HTMLResponse(_page(said("closed", _language(request)), _language(request)), 403)


def _asked(request: Request, *, wrong: bool) -> Response:
    language = _language(request)
    hint = f'<p role="alert">{said("password.wrong", language)}</p>' if wrong else ""
    form = (
        f'<form method="post" action="/enter"><label>{said("password", language)} '
        f'<input type="password" name="password" autofocus required maxlength="{MAX_PASSWORD}"></label> '
        f"<button>{said('password.enter', language)}</button></form>"
    )
    return HTMLResponse(_page(hint + form, language), 403)


def _language(request: Request) -> str:
    return "ja" if request.headers.get("accept-language", "").lower().startswith("ja") else "en"


def _page(inner: str, language: str) -> str:
    """Put texts of ours, and none of anybody else's, into a page."""
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>Sudare</title>'
        f'<link rel="stylesheet" href="/static/studio.css"></head><body><main><h1>Sudare</h1>{inner}</main></body></html>'
    )
