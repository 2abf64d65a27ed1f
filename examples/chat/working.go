package main

import (
	"strings"

	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// A terminal prints as it goes, but the text of a tool call may be replaced, so it is printed when the call has
// ended. Until then the person sees from time to time what the call says.
const (
	recentItems = 16   // how many items are looked at
	recentBytes = 2000 // of a text
)

// working returns the last open tool call that has a text, with the last line of it. It returns "" if there is none,
// or while a question is on the screen.
func (v *view) working() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.held > 0 || v.last == nil {
		return ""
	}
	items := v.last.Items
	for i := items.Len() - 1; i >= max(0, items.Len()-recentItems); i-- {
		c, ok := items.At(i).(*thread.ToolCall)
		if !ok || !c.Open() || c.Content.Len() == 0 {
			continue
		}
		if last := c.Content.At(c.Content.Len() - 1); last.Block != nil {
			if line := lastLine(last.Block.Text); line != "" {
				return safetext.OneLine(c.Title, 40) + ", which says: " + safetext.OneLine(line, 80)
			}
		}
	}
	return ""
}

// lastLine returns the last line of a text that is not blank. A code fence is no line of it.
func lastLine(text string) string {
	text = text[max(0, len(text)-recentBytes):]
	text = strings.TrimRight(strings.TrimSuffix(strings.TrimSpace(text), "```"), " \r\n")
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
