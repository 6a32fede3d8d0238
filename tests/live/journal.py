# SPDX-License-Identifier: Apache-2.0
"""journal.py HOST:PORT FILE - a relay that notes which writes ask for the journal.

Stands between a client and a server, prints "listening PORT", and appends one line to FILE for each write command that
the client sends: the command, its collection, and "j" or "-" for whether its write concern has j: true. What is lost
when a server is killed cannot be seen on every server; what was asked for can. Ends when its standard input does.
"""
import os
import re
import socket
import struct
import sys
import threading

OP_MSG = 2013
COMMAND = re.compile(rb"\x02(insert|update|delete|findAndModify)\x00....([^\x00]+)\x00", re.S)


def note(message, out):
    if len(message) < 26 or struct.unpack_from("<i", message, 12)[0] != OP_MSG:
        return
    found = COMMAND.match(message, 25)
    if found:
        line = b"%s %s %s\n" % (found.group(1), found.group(2), b"j" if b"\x08j\x00\x01" in message else b"-")
        os.write(out, line)


def pump(source, target, out):
    """Passes bytes on; with `out`, whole messages are looked at on the way."""
    rest = b""
    try:
        while data := source.recv(65536):
            rest += data if out is not None else b""
            while len(rest) >= 4 and len(rest) >= (size := struct.unpack_from("<i", rest, 0)[0]):
                note(rest[:size], out)
                rest = rest[size:]
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def accept(listener, address, out):
    while True:
        client, _ = listener.accept()
        server = socket.create_connection(address)
        threading.Thread(target=pump, args=(client, server, out), daemon=True).start()
        threading.Thread(target=pump, args=(server, client, None), daemon=True).start()


def main(words):
    host, port = words[1].rsplit(":", 1)
    out = os.open(words[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    listener = socket.create_server(("127.0.0.1", 0))
    print("listening", listener.getsockname()[1], flush=True)
    threading.Thread(target=accept, args=(listener, (host, int(port)), out), daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv)
