# DEFECT: request_permission puts a bare content block into toolCall.content
import os, sys; sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from base import *
import base
class Bad(Agent):
    def permission(s, st, c):
        opts = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}, {"optionId": "no", "name": "Reject", "kind": "reject_once"}]
        try: r = s.call("session/request_permission", {"sessionId": st["id"], "toolCall": {"toolCallId": c, "content": [{"type": "text", "text": "rm x"}]}, "options": opts})
        except RPC: s.check(st); return False
        s.check(st); o = r.get("outcome") or {}
        return o.get("outcome") == "selected" and o.get("optionId") == "yes"

Bad().run()
