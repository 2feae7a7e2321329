"""Sends requests.json to app.py and writes what it answers into answers.json.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python record.py
"""

import base64
import io
import json
import logging
import pathlib
import re
from urllib.parse import unquote_to_bytes

import app
from django.core.handlers.wsgi import WSGIHandler

HERE = pathlib.Path(__file__).parent
HEADERS = ["Content-Type", "Allow", "Location", "Retry-After", "Set-Cookie", "X-By"]


def send(handler, request):
    target, _, query = request["target"].partition("?")
    body = request.get("body", "").encode()
    if "base64" in request:
        body = base64.b64decode(request["base64"])
    environ = {
        "CONTENT_LENGTH": str(len(body)),
        "PATH_INFO": unquote_to_bytes(target).decode("latin-1"),
        "QUERY_STRING": query,
        "REMOTE_ADDR": "192.0.2.1",
        "REQUEST_METHOD": request.get("method", "GET"),
        "SERVER_NAME": "example.com",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.errors": io.StringIO(),
        "wsgi.input": io.BytesIO(body),
        "wsgi.url_scheme": "http",
    }
    for name, value in request.get("headers", {}).items():
        key = name.upper().replace("-", "_")
        environ[key if key == "CONTENT_TYPE" else "HTTP_" + key] = value
    answer = {}

    def start(status, headers, exc_info=None):
        answer["status"] = int(status.split()[0])
        kept = {name: value.strip() for name, value in headers if name in HEADERS}
        if "Content-Type" in kept:
            kept["Content-Type"] = kept["Content-Type"].partition(";")[0]
        answer["headers"] = kept

    text = b"".join(handler(environ, start)).decode()
    # A page for people says nothing that a program compares.
    answer["body"] = re.sub(r"\s+", " ", text)[:60] if answer["headers"].get("Content-Type") == "text/html" else text
    return answer


def main():
    logging.disable()
    handler = WSGIHandler()
    lines = []
    for request in json.loads((HERE / "requests.json").read_text()):
        app.reset()
        for before in request.get("before", []):
            send(handler, before)
        answer = {"name": request["name"], **send(handler, request)}
        if request.get("compare") == "status":
            answer["body"] = ""
        lines.append(json.dumps(answer, ensure_ascii=False))
    (HERE / "answers.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(len(lines), "answers")


main()
