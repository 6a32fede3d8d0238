# SPDX-License-Identifier: Apache-2.0
"""mongos.py PORT CMD... - a server on PORT behind a proxy that makes it call itself a mongos; MONGODB_URI of CMD names
the proxy. Only the answers to hello are changed: what else a mongos does otherwise is not played."""
import os
import socket
import struct
import subprocess
import sys
import threading

FIXED = {0x01: 8, 0x07: 12, 0x08: 1, 0x09: 8, 0x0A: 0, 0x10: 4, 0x11: 8, 0x12: 8, 0x13: 16}
OF_A_SET = {b"setName", b"setVersion", b"hosts", b"passives", b"arbiters", b"primary", b"me", b"electionId",
            b"secondary", b"lastWrite", b"topologyVersion", b"isreplicaset"}


def elements(document):
    at = 4
    while document[at]:
        start, kind = at, document[at]
        end = document.index(0, at + 1)
        name, at = document[start + 1:end], end + 1
        size = FIXED.get(kind)
        if size is None:
            size = struct.unpack_from("<i", document, at)[0] + {0x02: 4, 0x05: 5}.get(kind, 0)
        at += size
        yield name, document[start:at]


def as_mongos(document):
    parts = list(elements(document))
    names = {name for name, _ in parts}
    if not names & {b"isWritablePrimary", b"ismaster"} or b"maxWireVersion" not in names:
        return document
    kept = b"".join(raw for name, raw in parts if name not in OF_A_SET)
    body = kept + b"\x02msg\0" + struct.pack("<i", 9) + b"isdbgrid\0"
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def changed(message, change=as_mongos):
    op = struct.unpack_from("<i", message, 12)[0]
    at = 36 if op == 1 else 21 if op == 2013 and message[20] == 0 else None
    if at is None:
        return message
    size = struct.unpack_from("<i", message, at)[0]
    document = change(message[at:at + size])
    rest = message[16:at] + document + message[at + size:]
    return struct.pack("<i", len(rest) + 16) + message[4:16] + rest


def exactly(sock, size):
    data = b""
    while len(data) < size:
        more = sock.recv(min(size - len(data), 1 << 20))
        if not more:
            raise EOFError
        data += more
    return data


def carry(source, target, change):
    try:
        while True:
            head = exactly(source, 4)
            target.sendall(change(head + exactly(source, struct.unpack("<i", head)[0] - 4)))
    except (OSError, EOFError):
        for sock in (source, target):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def serve(listener, port, change):
    while True:
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=carry, args=(client, server, bytes), daemon=True).start()
        threading.Thread(target=carry, args=(server, client, change), daemon=True).start()


def main(words):
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener, int(words[0]), changed), daemon=True).start()
    uri = f"mongodb://127.0.0.1:{listener.getsockname()[1]}/"
    return subprocess.run(words[1:], env={**os.environ, "MONGODB_URI": uri}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
