# SPDX-License-Identifier: Apache-2.0
"""wire.py --port N [--tls CA] DB COMMAND - sends one command, given as JSON, and prints the reply as JSON.

The scripts around a test server have to ask whether it answers, initiate a replica set and make a first user before
any client of the tests can be used, on machines without a shell for MongoDB. That takes one message there and one
back, so nothing but Python's own library is needed. `wire.py --free-port` prints a port that nobody listens on.
Exit status: 0 when the reply says ok, 1 otherwise.
"""
import json
import socket
import struct
import sys

OP_MSG = 2013


def encode(document):
    out = b""
    items = document.items() if isinstance(document, dict) else ((str(i), v) for i, v in enumerate(document))
    for key, value in items:
        name = key.encode() + b"\0"
        if isinstance(value, bool):
            out += b"\x08" + name + (b"\1" if value else b"\0")
        elif isinstance(value, int):
            out += b"\x10" + name + struct.pack("<i", value)
        elif isinstance(value, str):
            text = value.encode() + b"\0"
            out += b"\x02" + name + struct.pack("<i", len(text)) + text
        elif isinstance(value, dict):
            out += b"\x03" + name + encode(value)
        elif isinstance(value, list):
            out += b"\x04" + name + encode(value)
        else:
            raise TypeError(key)
    return struct.pack("<i", len(out) + 5) + out + b"\0"


def decode_value(kind, data, at):
    """The value at `at` and where the next one begins; binaries and the like come out as None."""
    if kind == 0x01:
        return struct.unpack_from("<d", data, at)[0], at + 8
    if kind in (0x02, 0x0D, 0x0E):
        size = struct.unpack_from("<i", data, at)[0]
        return data[at + 4:at + 3 + size].decode("utf-8", "replace"), at + 4 + size
    if kind in (0x03, 0x04):
        size = struct.unpack_from("<i", data, at)[0]
        inner = decode(data[at:at + size])
        return (inner if kind == 0x03 else list(inner.values())), at + size
    if kind == 0x05:
        return None, at + 5 + struct.unpack_from("<i", data, at)[0]
    if kind == 0x07:
        return {"$oid": data[at:at + 12].hex()}, at + 12
    if kind == 0x08:
        return data[at] == 1, at + 1
    if kind == 0x09:
        return {"$date": {"$numberLong": str(struct.unpack_from("<q", data, at)[0])}}, at + 8
    if kind == 0x10:
        return struct.unpack_from("<i", data, at)[0], at + 4
    if kind == 0x12:
        return struct.unpack_from("<q", data, at)[0], at + 8
    width = {0x06: 0, 0x0A: 0, 0x11: 8, 0x13: 16, 0x7F: 0, 0xFF: 0}
    return None, at + width[kind]


def decode(data):
    out, at = {}, 4
    while data[at]:
        kind = data[at]
        end = data.index(b"\0", at + 1)
        out[data[at + 1:end].decode("utf-8", "replace")], at = decode_value(kind, data, end + 1)
    return out


def read_exactly(connection, size):
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise OSError("the server closed the connection")
        data += piece
    return data


def ask(port, authority, command):
    with socket.create_connection(("127.0.0.1", port), timeout=300) as plain:
        connection = plain
        if authority:
            import ssl  # slow to load, and seldom needed
            connection = ssl.create_default_context(cafile=authority).wrap_socket(plain, server_hostname="127.0.0.1")
        body = struct.pack("<i", 0) + b"\0" + encode(command)
        connection.sendall(struct.pack("<iiii", 16 + len(body), 1, 0, OP_MSG) + body)
        size = struct.unpack("<iiii", read_exactly(connection, 16))[0]
        return decode(read_exactly(connection, size - 16)[5:])


def main(words):
    if words == ["--free-port"]:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            print(probe.getsockname()[1])
        return 0
    port, authority = 0, None
    while words and words[0].startswith("--"):
        if words[0] == "--port":
            port = int(words[1])
        else:
            authority = words[1]
        words = words[2:]
    command = json.loads(words[1])
    command["$db"] = words[0]
    try:
        reply = ask(port, authority, command)
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(reply))
    return 0 if reply.get("ok") == 1 else 1


sys.exit(main(sys.argv[1:]))
