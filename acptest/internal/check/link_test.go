package check

import (
	"bufio"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A peer that ends while it writes has said nothing wrong: a message that is cut off is left out. What
// it prints that is no message is read.
func TestLastLine(t *testing.T) {
	for sent, want := range map[string][]string{
		"{\"a\":1}\n{\"b\":2}\n": {`{"a":1}`, `{"b":2}`},
		"{\"a\":1}\n{\"b\":2}":   {`{"a":1}`, `{"b":2}`},
		"{\"a\":1}\n{\"b\":":     {`{"a":1}`},
		"{\"a\":1}\nBye":         {`{"a":1}`, "Bye"},
		"{\"a\":\nBye\n":         {`{"a":`, "Bye"},
	} {
		lines := bufio.NewReader(strings.NewReader(sent))
		var got []string
		for line, err := readLine(lines); err == nil; line, err = readLine(lines) {
			got = append(got, string(line))
		}
		assert.Equal(t, want, got, "%q", sent)
	}
}
