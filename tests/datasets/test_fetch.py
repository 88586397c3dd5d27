"""Fetching against a local server: complete and right, or nothing under the final name."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from labelrank.datasets import fetching
from labelrank.datasets.fetching import Source, addresses, fetch, retrieve
from labelrank.errors import FormatError, MissingError

BODY = bytes(range(256)) * 2000
SIZE = len(BODY)
SHA256 = hashlib.sha256(BODY).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """`/good`, `/cut` (drops every connection half-way), `/plain` (ignores Range), `/endless`."""

    protocol_version = "HTTP/1.1"
    requests = []
    cuts_left = 0

    def do_GET(self):
        start = self._start()
        type(self).requests.append((self.path, start))
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path == "/endless":
            self._endless()
            return
        if start >= len(BODY):
            self.send_error(416)
            return
        self._send(BODY[start:], start)

    def _start(self):
        asked = self.headers.get("Range")
        return 0 if asked is None or self.path == "/plain" else int(asked[6:-1])

    def _send(self, rest, start):
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(rest)))
        self.send_header("ETag", '"one"')
        self.end_headers()
        if self.path != "/good" and type(self).cuts_left > 0:
            type(self).cuts_left -= 1
            self.wfile.write(rest[: len(rest) // 2])
            self.close_connection = True
            return
        self.wfile.write(rest)

    def _endless(self):
        self.send_response(200)
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                self.wfile.write(BODY)
        except OSError:
            return

    def log_message(self, *_):
        return


@pytest.fixture
def home():
    Handler.requests, Handler.cuts_left = [], 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def source(home, page, sha256=SHA256, limit=SIZE):
    return Source("sub/set.arff", f"{home}/{page}", limit, sha256)


def get(source, folder):
    return retrieve(source, folder, progress=False)


def names(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_good_file_arrives_whole_and_is_not_asked_for_twice(home, tmp_path):
    for _ in range(2):
        path = get(source(home, "good"), tmp_path)
    assert path.read_bytes() == BODY
    assert names(tmp_path) == ["set.arff"]
    assert len(Handler.requests) == 1


def test_a_wrong_checksum_leaves_nothing(home, tmp_path):
    with pytest.raises(FormatError, match="SHA-256"):
        get(source(home, "good", sha256="0" * 64), tmp_path)
    assert names(tmp_path) == []


def test_a_damaged_copy_is_fetched_again(home, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "set.arff").write_bytes(b"damaged")
    assert get(source(home, "good"), tmp_path).read_bytes() == BODY


@pytest.mark.parametrize("sha256", [SHA256, None])
def test_a_cut_off_file_is_continued_in_the_same_call(home, tmp_path, sha256):
    Handler.cuts_left = 2
    assert get(source(home, "cut", sha256), tmp_path).read_bytes() == BODY
    first, second, third = (start for _, start in Handler.requests)
    assert first == 0 < second < third < len(BODY)
    assert names(tmp_path) == ["set.arff"]


def test_a_file_always_cut_off_is_continued_by_the_next_call(home, tmp_path):
    Handler.cuts_left = 4
    with pytest.raises(MissingError, match="again"):
        get(source(home, "cut"), tmp_path)
    assert names(tmp_path) == ["set.arff.part"]
    Handler.requests = []
    assert get(source(home, "cut"), tmp_path).read_bytes() == BODY
    assert Handler.requests[0][1] > 0
    assert names(tmp_path) == ["set.arff"]


def test_a_part_without_known_checksum_is_not_continued_by_a_later_call(home, tmp_path):
    Handler.cuts_left = 4
    with pytest.raises(MissingError):
        get(source(home, "cut", None), tmp_path)
    Handler.requests = []
    assert get(source(home, "cut", None), tmp_path).read_bytes() == BODY
    assert [start for _, start in Handler.requests] == [0]


def test_a_server_that_cannot_continue_starts_over(home, tmp_path):
    Handler.cuts_left = 1
    assert get(source(home, "plain"), tmp_path).read_bytes() == BODY


def test_a_part_longer_than_the_file_is_thrown_away(home, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "set.arff.part").write_bytes(b"x" * len(BODY))
    assert get(source(home, "good"), tmp_path).read_bytes() == BODY


def test_a_missing_file_names_its_address(home, tmp_path):
    with pytest.raises(MissingError, match="/missing answered 404"):
        get(source(home, "missing"), tmp_path)
    assert names(tmp_path) == []


@pytest.mark.parametrize("page", ["good", "endless"])
def test_an_oversize_file_is_refused(home, tmp_path, page):
    with pytest.raises(FormatError, match="more than the 1000 bytes"):
        get(source(home, page, limit=1000), tmp_path)
    assert names(tmp_path) == []


def test_nobody_at_the_address_is_one_clear_sentence(tmp_path):
    with pytest.raises(MissingError, match="check the connection"):
        get(Source("set.arff", "http://127.0.0.1:9/none", 10, None), tmp_path)


def test_all_files_of_a_set_land_in_the_folder(home, tmp_path, monkeypatch):
    table = {"two": (source(home, "good"), source(home, "good")._replace(file="b.xml"))}
    monkeypatch.setattr(fetching, "addresses", lambda: table)
    assert fetch("Two", tmp_path, progress=False) == tmp_path
    assert names(tmp_path) == ["b.xml", "set.arff"]


def test_a_set_without_public_home_says_so():
    with pytest.raises(MissingError, match="no stable public address"):
        fetch("yahoo-arts")


def test_every_address_is_whole():
    for sources in addresses().values():
        for entry in sources:
            assert entry.url.startswith(("https://", "http://"))
            assert entry.limit > 0
            assert entry.sha256 is None or len(bytes.fromhex(entry.sha256)) == 32
