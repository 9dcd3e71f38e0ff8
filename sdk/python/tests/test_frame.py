import unittest

from castellan_agent_sdk._frame import FrameReader, Hold, ProtocolError, Reply, Request

from .fake_daemon import FRAMES


class FrameTest(unittest.TestCase):
    def test_a_request_has_the_bytes_of_the_protocol(self) -> None:
        known = FRAMES["request"]
        cwd, payload = known["cwd"].encode(), known["payload"].encode()
        request = Request(known["agent"], known["event"], known["parent_pid"], cwd, payload)
        self.assertEqual(request.encode().hex(), known["hex"])

    def test_replies_and_holds_are_read_whole_and_byte_by_byte(self) -> None:
        for known in FRAMES["replies"]:
            content = bytes.fromhex(known["hex"])
            expected = [Reply(known["exit"], known["stdout"].encode(), known["stderr"].encode())]
            self.assertEqual(FrameReader().push(content), expected)
            reader = FrameReader()
            self.assertEqual([frame for byte in content for frame in reader.push(bytes([byte]))], expected)
            self.assertEqual(FrameReader().push(content[:-1]), [])
        for known in FRAMES["holds"]:
            content = bytes.fromhex(known["hex"])
            self.assertEqual(FrameReader().push(content + content), [Hold(known["ms"])] * 2)

    def test_malformed_frames_are_rejected(self) -> None:
        for known in FRAMES["malformed"]:
            with self.subTest(known["what"]), self.assertRaises(ProtocolError):
                FrameReader().push(bytes.fromhex(known["hex"]))
