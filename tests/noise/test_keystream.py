from __future__ import annotations

import copy
import hashlib
import os
import pickle
import shutil
import subprocess
import sys
from itertools import chain

import numpy as np
import pytest

import sudare.threads
from sudare.errors import ParameterError
from sudare.noise._chacha import BLOCK, BUFFER, LANES, fill, fill_words, take, tap
from sudare.noise.keystream import PIECE, Keystream

# RFC 8439, 2.3.2 and appendix A.1: key, counter, nonce, keystream
COUNTING = bytes(range(32)).hex()
NOTHING = "00" * 32
VECTORS = [
    (
        COUNTING,
        1,
        "000000090000004a00000000",
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
    ),
    (
        NOTHING,
        0,
        "00" * 12,
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ),
    (
        NOTHING,
        1,
        "00" * 12,
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
    ),
    (
        "00" * 31 + "01",
        1,
        "00" * 12,
        "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
        "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0",
    ),
    (
        "00ff" + "00" * 30,
        2,
        "00" * 12,
        "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
        "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
    ),
    (
        NOTHING,
        0,
        "00" * 11 + "02",
        "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
        "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d",
    ),
]
WORDS = LANES * BLOCK


def plain_block(key: bytes, block: int, stream: int) -> bytes:
    """ChaCha20 in Python's own numbers, after the RFC's text."""

    def quarter(a: int, b: int, c: int, d: int) -> None:
        for x, y, z, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            state[x] = (state[x] + state[y]) % 2**32
            state[z] ^= state[x]
            state[z] = (state[z] << by | state[z] >> 32 - by) % 2**32

    start = b"expand 32-byte k" + key + block.to_bytes(8, "little") + stream.to_bytes(8, "little")
    first = [int.from_bytes(start[i : i + 4], "little") for i in range(0, 64, 4)]
    state = first.copy()
    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return b"".join(((x + y) % 2**32).to_bytes(4, "little") for x, y in zip(state, first, strict=True))


def filled(key: bytes, block: int, stream: int, words: int) -> bytes:
    out = np.empty(words, dtype=np.uint64)
    fill(np.frombuffer(key, dtype="<u4").astype(np.uint32), np.uint64(stream), np.uint64(block), out)
    return out.astype("<u8").tobytes()


@pytest.mark.parametrize(("key", "counter", "nonce", "expected"), VECTORS)
def test_the_vectors_of_rfc_8439(key: str, counter: int, nonce: str, expected: str) -> None:
    raw = bytes.fromhex(nonce)  # its first word is the upper half of our counter
    block = counter | int.from_bytes(raw[:4], "little") << 32
    stream = int.from_bytes(raw[4:], "little")
    assert plain_block(bytes.fromhex(key), block, stream).hex() == expected
    assert filled(bytes.fromhex(key), block, stream, WORDS)[:64].hex() == expected


PLACES = [(0, 0), (5, 1), (2**32 - 7, 3), (2**64 - 9, 2**64 - 1), (123456789012, 2**33 + 5)]


@pytest.mark.parametrize(("block", "stream"), PLACES)
def test_many_blocks_are_each_the_plain_one(block: int, stream: int) -> None:
    key = bytes(range(100, 132))
    plain = b"".join(plain_block(key, (block + i) % 2**64, stream) for i in range(3 * LANES))
    assert filled(key, block, stream, 3 * WORDS) == plain


@pytest.mark.parametrize(("block", "stream"), PLACES[:3])
def test_openssl_makes_the_same(block: int, stream: int) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl command to compare with")
    key, size = bytes(range(7, 39)), 64 * 2 * LANES
    start = block.to_bytes(8, "little") + stream.to_bytes(8, "little")
    command = [openssl, "enc", "-chacha20", "-K", key.hex(), "-iv", start.hex()]
    done = subprocess.run(command, input=bytes(size), capture_output=True)
    if done.returncode != 0:
        pytest.skip("this openssl has no ChaCha20")
    assert filled(key, block, stream, 2 * WORDS) == done.stdout


def test_a_part_is_found_by_its_block() -> None:
    key = bytes(32)
    whole = filled(key, 0, 9, 8 * WORDS)
    assert filled(key, 2 * LANES, 9, 3 * WORDS) == whole[2 * 64 * LANES : 5 * 64 * LANES]


@pytest.mark.parametrize("size", [0, 1, 127, 128, 129, 1000])
def test_any_number_of_words(size: int) -> None:
    key, out = np.arange(8, dtype=np.uint32), np.empty(size, dtype=np.uint64)
    fill_words(key, np.uint64(4), out)
    assert out.astype("<u8").tobytes() == filled(key.tobytes(), 0, 4, 10 * WORDS)[: 8 * size]


def test_a_tap_gives_the_words_of_its_stream_in_order() -> None:
    key, expected = np.arange(8, dtype=np.uint32), np.empty(3 * BUFFER, dtype=np.uint64)
    fill_words(key, np.uint64(2**40), expected)
    source = tap(key, np.uint64(2**40))
    assert [int(take(source)) for _ in expected] == expected.tolist()


# -- Keystream -----------------------------------------------------------------------------------------


def test_words_are_the_streams_piece_by_piece() -> None:
    key = hashlib.sha256(b"11").digest()
    source = Keystream.unsafe(11)
    first, second = source.words(PIECE + 3), source.words(2)
    assert first[:8].tobytes() == plain_block(key, 0, 0)
    assert first[PIECE - 8 : PIECE].tobytes() == plain_block(key, PIECE // BLOCK - 1, 0)
    assert first[PIECE:].tobytes() == plain_block(key, 0, 1)[:24]
    assert second.tobytes() == plain_block(key, 0, 2)[:16]


@pytest.mark.parametrize("threads", [1, 3, 8])
def test_words_do_not_depend_on_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Keystream.unsafe(1).words(5 * PIECE + 1)
    monkeypatch.setattr(sudare.threads, "CORES", threads)
    assert np.array_equal(Keystream.unsafe(1).words(5 * PIECE + 1), expected)


def test_no_word_comes_twice() -> None:
    source = Keystream.unsafe(3)
    drawn = [source.words(n) for n in (1, 1, 200_000, 0, 7, PIECE, 1)]
    words = list(chain.from_iterable(part.tolist() for part in drawn))
    assert len(set(words)) == len(words)


def test_sources_differ_and_an_unsafe_seed_repeats() -> None:
    assert not np.array_equal(Keystream().words(4), Keystream().words(4))
    assert not np.array_equal(Keystream.unsafe(1).words(4), Keystream.unsafe(2).words(4))
    assert np.array_equal(Keystream.unsafe(1).words(4), Keystream.unsafe(1).words(4))


def test_a_source_says_what_it_is_and_not_its_key() -> None:
    safe, unsafe = Keystream(), Keystream.unsafe(7)
    assert (safe.description, safe.safe) == ("ChaCha20 keyed by the operating system", True)
    assert (unsafe.description, unsafe.safe) == ("UNSAFE: ChaCha20 keyed by the seed 7", False)
    assert repr(safe) == "<Keystream: ChaCha20 keyed by the operating system>"


@pytest.mark.parametrize("double", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_source_has_no_double(double: object) -> None:
    with pytest.raises(TypeError, match="the copy would repeat the same noise"):
        double(Keystream())  # type: ignore[operator]


FORKED = """
import ctypes, os, sys
from sudare.errors import SudareError
from sudare.noise.keystream import Keystream, _Birthmark

source, mark = Keystream(), _Birthmark()
os.getpid = lambda: 1  # as in a PID namespace of its own: every process has the same number
for forked_by in sys.argv[1:]:
    child = os.fork() if forked_by == "python" else ctypes.CDLL(None).fork()
    if child:
        source.words(1)  # the parent goes on
        if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            sys.exit(code)
        continue
    try:
        source.words(1)
    except SudareError as error:
        Keystream().words(1)  # a new one is the child's own
        os._exit(0 if "repeat what its parent draws" in str(error) else 2)
    os._exit(1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_source_is_refused_whatever_its_number() -> None:
    forked_by = (
        ["python", "c"] if sys.platform.startswith("linux") else ["python"]
    )  # only Linux wipes memory on a fork
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED, *forked_by], timeout=300)
    assert done.returncode == 0


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True, None])
def test_refused_seeds(seed: object) -> None:
    with pytest.raises(ParameterError, match=r"'seed' parameter of Keystream\.unsafe must be a whole number"):
        Keystream.unsafe(seed)  # type: ignore[arg-type]


def test_refused_sizes() -> None:
    with pytest.raises(ParameterError, match="'size' parameter of words must be a whole number of 0 or more"):
        Keystream().words(-1)
