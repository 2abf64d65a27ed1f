package hub

import (
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
	"github.com/acpkit/go-sdk/internal/history"
)

// plainText returns the text of a chunk whose text can be joined to that of its message.
func plainText(u acp.SessionUpdate) (string, bool) {
	_, _, content := fold.Chunk(u)
	if text := fold.PlainText(content); text != nil {
		return text.Text, true
	}
	return "", false
}

// messageKey names a message. The role of no message is empty.
type messageKey struct {
	role string
	id   acp.MessageID
}

func messageOf(u acp.SessionUpdate) messageKey {
	role, id, _ := fold.Chunk(u)
	return messageKey{role, id}
}

// withText returns a chunk of the same message with a plain text.
func withText(u acp.SessionUpdate, text string) acp.SessionUpdate {
	return fold.Rechunk(u, messageOf(u).id, acp.Text(text))
}

// eventSize is about how many bytes an update takes beside its content.
const eventSize = 256

// sizeOf returns about how many bytes of memory an update takes.
func sizeOf(u acp.SessionUpdate) int {
	if text, ok := plainText(u); ok {
		return eventSize + len(text)
	}
	data, err := history.Encode(u)
	if err != nil {
		return eventSize
	}
	return eventSize + len(data)
}

// heldWhole reports whether the history holds an update as it is: prompts, and what is not text.
func heldWhole(u acp.SessionUpdate) bool {
	role := messageOf(u).role
	_, text := plainText(u)
	return role == "user" || role != "" && !text
}

// maxTitle is how many bytes of a title the hub keeps, because it is in each entry of lists and stores.
const maxTitle = 4 << 10

// shortTitle returns the beginning of a title.
func shortTitle(title string) string {
	if len(title) <= maxTitle {
		return title
	}
	return strings.ToValidUTF8(title[:maxTitle-len("…")], "") + "…"
}
