package classify

import (
	"errors"
	"regexp"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// tooLarge is what services of language models write. It is tried on the text alone, so
// that a program compacts its context once too often rather than never.
var tooLarge = regexp.MustCompile(`(?i)context_length_exceeded|maximum context length|context[\s_-]?(?:window|length|limit)[^.]{0,40}(?:exceed|too (?:long|large|small))|` +
	`exceed\w*[^.]{0,40}context[\s_-]?(?:window|length|limit|size)|(?:prompt|input|request)[^.]{0,20} (?:is )?too (?:long|large) for|prompt is too long|` +
	`input is too long for requested model|too many (?:input )?tokens|input token count[^.]{0,40}exceeds`)

// IsContextTooLarge reports whether err means that the input does not fit the context of
// the language model: an error of kind [kind.ContextTooLarge], on either end of a
// connection, or one with the words that model services use for it. The words are a guess,
// good enough for shortening the context and trying again, which has no other effect.
func IsContextTooLarge(err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(err, kind.ContextTooLarge) {
		return true
	}
	found := tooLarge.MatchString(rpcerr.Explain(err)) // with what a peer says in the data
	inside.Walk(err, func(err error) bool {
		s := err.Error()
		found = found || tooLarge.MatchString(s[:min(len(s), maxWords)])
		return found
	})
	return found
}
