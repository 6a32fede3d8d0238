# SPDX-License-Identifier: Apache-2.0
"""restore.py PORT DUMP - a folder of BSON files put onto the server at this port, with its indexes, without any tool.

Documents travel as the bytes that the files hold. For dumps of tests: plain files, options left alone.
"""
import json
import os
import socket
import struct
import sys

OP_MSG, BATCH = 2013, 8 << 20


def element(name, value):
    key = name.encode() + b"\0"
    if isinstance(value, bool):
        return b"\x08" + key + (b"\1" if value else b"\0")
    if isinstance(value, int):
        return b"\x10" + key + struct.pack("<i", value)
    if isinstance(value, float):
        return b"\x01" + key + struct.pack("<d", value)
    if isinstance(value, str):
        text = value.encode() + b"\0"
        return b"\x02" + key + struct.pack("<i", len(text)) + text
    if isinstance(value, list):
        return b"\x04" + key + document({str(i): v for i, v in enumerate(value)})
    return b"\x03" + key + document(value)


def document(fields):
    body = b"".join(element(name, value) for name, value in fields.items())
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def plain(value):
    """Extended JSON of numbers as numbers."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if not isinstance(value, dict):
        return value
    if set(value) <= {"$numberInt", "$numberLong", "$numberDouble"} and value:
        return float(value["$numberDouble"]) if "$numberDouble" in value else int(next(iter(value.values())))
    return {name: plain(v) for name, v in value.items()}


class Server:
    def __init__(self, port):
        self.at = socket.create_connection(("127.0.0.1", port), timeout=60)

    def read(self, size):
        data = b""
        while len(data) < size:
            piece = self.at.recv(size - len(data))
            if not piece:
                raise OSError("the server closed the connection")
            data += piece
        return data

    def ask(self, command, documents=()):
        body = struct.pack("<i", 0) + b"\0" + document(command)
        if documents:
            section = b"documents\0" + b"".join(documents)
            body += b"\1" + struct.pack("<i", len(section) + 4) + section
        self.at.sendall(struct.pack("<iiii", 16 + len(body), 1, 0, OP_MSG) + body)
        reply = self.read(struct.unpack("<iiii", self.read(16))[0] - 16)
        if b"\x01ok\0" + struct.pack("<d", 1) not in reply or b"writeErrors\0" in reply:
            raise OSError("the server refuses %s: %r" % (next(iter(command)), reply[:300]))


def batches(data):
    at, batch, size = 0, [], 0
    while at < len(data):
        n = struct.unpack_from("<i", data, at)[0]
        batch.append(data[at:at + n])
        size += n
        at += n
        if size > BATCH or len(batch) == 1000 or at >= len(data):
            yield batch
            batch, size = [], 0


def main(port, dump):
    server = Server(int(port))
    for db in sorted(os.listdir(dump)):
        for name in sorted(os.listdir(os.path.join(dump, db))):
            path = os.path.join(dump, db, name)
            if name.endswith(".bson"):
                with open(path, "rb") as file:
                    for batch in batches(file.read()):
                        server.ask({"insert": name[:-5], "$db": db}, batch)
            elif name.endswith(".metadata.json"):
                with open(path, encoding="utf-8") as file:
                    indexes = [plain(i) for i in json.load(file).get("indexes", []) if i["name"] != "_id_"]
                if indexes:
                    server.ask({"createIndexes": name[:-14], "indexes": indexes, "$db": db})
    return 0


sys.exit(main(*sys.argv[1:]))
