# DEFECT: each chunk of one answer has another messageId: a changed id starts a new message
import os, sys; sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from base import *
import base
class Bad(Agent):
    def say(s, st, text): s.update(st, {"sessionUpdate": "agent_message_chunk", "messageId": uuid.uuid4().hex, "content": {"type": "text", "text": text}})

Bad().run()
