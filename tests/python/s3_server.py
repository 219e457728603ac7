"""A server of s3:// on this machine, as far as reading needs it: objects and lists of them.

A bucket is a folder. Requests are those of S3's REST interface in path style: HeadObject, GetObject
with a range, ListObjectsV2 with a prefix and a delimiter, in pages. Signatures are not checked.
"""

import email.utils
import hashlib
import http.server
import pathlib
import re
import threading
import urllib.parse
from xml.sax.saxutils import escape

PAGE = 40  # keys in an answer, so that a folder of 65 has several


class S3Server:
    """`buckets`: folders by name. A context manager; `environment` is what clients need."""

    def __init__(self, buckets):
        self.buckets = {name: pathlib.Path(folder) for name, folder in buckets.items()}
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self):
                self.answer(with_body=False)

            def do_GET(self):
                self.answer(with_body=True)

            def answer(self, with_body):
                place = urllib.parse.urlsplit(self.path)
                bucket, _, key = urllib.parse.unquote(place.path).lstrip("/").partition("/")
                query = dict(urllib.parse.parse_qsl(place.query, keep_blank_values=True))
                folder = server.buckets.get(bucket)
                if folder is None:
                    self.send(404, {}, b"<Error><Code>NoSuchBucket</Code></Error>", with_body)
                elif not key:
                    self.send(200, {"Content-Type": "application/xml"}, server.listed(bucket, folder, query), with_body)
                elif not (folder / key).is_file():
                    self.send(404, {}, b"<Error><Code>NoSuchKey</Code></Error>", with_body)
                else:
                    self.send_object(folder / key, with_body)

            def send_object(self, path, with_body):
                content = path.read_bytes()
                headers = {"ETag": server.tag(content), "Accept-Ranges": "bytes",
                           "Last-Modified": email.utils.formatdate(path.stat().st_mtime, usegmt=True)}
                wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
                if not wanted:
                    self.send(200, headers, content, with_body)
                    return
                first = int(wanted[1])
                last = min(int(wanted[2] or len(content)), len(content) - 1)
                if first >= len(content):
                    self.send(416, headers, b"<Error><Code>InvalidRange</Code></Error>", with_body)
                    return
                headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
                self.send(206, headers, content[first:last + 1], with_body)

            def send(self, code, headers, body, with_body):
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if with_body:
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def environment(self):
        return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._server.server_address[1]}", "AWS_ACCESS_KEY_ID": "any",
                "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
                "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}

    @staticmethod
    def tag(content):
        return f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"'

    def listed(self, bucket, folder, query):
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        keys = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        keys = [key for key in keys if key.startswith(prefix)]
        folders = {}
        if delimiter:
            inside = [key for key in keys if delimiter in key[len(prefix):]]
            folders = dict.fromkeys(prefix + key[len(prefix):].split(delimiter)[0] + delimiter for key in inside)
            keys = [key for key in keys if key not in set(inside)]
        start = int(query.get("continuation-token", "0"))
        most = min(PAGE, int(query.get("max-keys", "1000")))
        page = keys[start:start + most]
        is_cut = start + most < len(keys)
        text = ['<?xml version="1.0" encoding="UTF-8"?>', '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
                f"<Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(page)}</KeyCount><MaxKeys>{most}</MaxKeys>",
                f"<IsTruncated>{str(is_cut).lower()}</IsTruncated>"]
        if is_cut:
            text.append(f"<NextContinuationToken>{start + most}</NextContinuationToken>")
        for key in page:
            path = folder / key
            changed = email.utils.parsedate_to_datetime(email.utils.formatdate(path.stat().st_mtime, usegmt=True))
            text.append(f"<Contents><Key>{escape(key)}</Key><LastModified>{changed:%Y-%m-%dT%H:%M:%S.000Z}</LastModified>"
                        f"<ETag>{escape(self.tag(path.read_bytes()))}</ETag><Size>{path.stat().st_size}</Size>"
                        "<StorageClass>STANDARD</StorageClass></Contents>")
        text += [f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>" for name in folders if start == 0]
        return ("".join(text) + "</ListBucketResult>").encode()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


