"""The pictures of the dashboards: small, and of pages that there are."""

from __future__ import annotations

import struct
import zlib

from small_png import smaller

RED, GREY, BLUE = b"\xff\x00\x00", b"\x80\x80\x80", b"\x00\x00\xff"


def chunk(name: bytes, content: bytes) -> bytes:
    head = struct.pack(">I", len(content)) + name + content
    return head + struct.pack(">I", zlib.crc32(name + content))


def picture(width: int, height: int, lines: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packed = zlib.compress(lines)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def content(png: bytes, name: bytes) -> bytes:
    at = png.index(name)
    (size,) = struct.unpack(">I", png[at - 4 : at])
    return png[at + 4 : at + 4 + size]


def test_every_filter_of_a_png_is_read():
    rows = [
        b"\x00" + RED + GREY,
        b"\x01" + RED + b"\x81\x80\x80",  # beside red: 255 + 129 is 128
        b"\x02" + b"\x00\x00\x00" + b"\x00\x00\x00",  # as above
        b"\x03" + b"\x80\x00\x00" + b"\x41\x40\x40",  # half of above, then of left and above
        b"\x04" + b"\x00\x00\x00" + b"\x00\x00\x00",  # above, then what is nearest
    ]
    png = smaller(picture(2, 5, b"".join(rows)))
    palette = content(png, b"PLTE")
    lines = zlib.decompress(content(png, b"IDAT"))
    seen = [palette[3 * place : 3 * place + 3] for n, place in enumerate(lines) if n % 3]
    assert seen[:2] == [RED, GREY]
    assert seen[2:4] == [RED, GREY]
    assert seen[4:6] == [RED, GREY]
    assert seen[6] == b"\xff\x00\x00"
    assert seen[7] == bytes([(0x41 + (255 + 128) // 2) & 255, 0x40 + 64, 0x40 + 64])
    assert seen[8] == seen[6]


def test_colours_beyond_the_palette_become_their_nearest():
    many = b"".join(bytes((value, 0, 0)) for value in range(200))
    png = smaller(picture(200, 2, b"\x00" + many + b"\x00" + BLUE * 200))
    palette = content(png, b"PLTE")
    assert len(palette) == 3 * 160
    assert palette[:3] == BLUE


def test_the_pictures_are_small_and_of_pages_that_there_are(project):
    pages = {path.stem for path in (project / "grafana").glob("*.json")}
    pictures = list((project / "grafana" / "pictures").iterdir())
    assert {path.stem for path in pictures} <= pages
    assert 2 <= len(pictures) <= 4
    assert all(path.suffix == ".png" for path in pictures)
    assert all(path.stat().st_size < 200_000 for path in pictures)
