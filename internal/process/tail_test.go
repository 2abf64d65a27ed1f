package process

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTail(t *testing.T) {
	for name, tt := range map[string]struct {
		written []string
		ended   bool
		want    string
		lost    bool
	}{
		"all of it":                 {written: []string{"ab", "cd"}, want: "abcd"},
		"more than the limit":       {written: []string{"abcd", "ef"}, want: "cdef", lost: true},
		"a long write":              {written: []string{"ab", strings.Repeat("x", 100) + "yz"}, want: "xxyz", lost: true},
		"many writes":               {written: strings.Split("abcdefghijkl", ""), want: "ijkl", lost: true},
		"cut within a character":    {written: []string{"€€"}, want: "€", lost: true},
		"a character that is begun": {written: []string{"a\xe2\x82"}, want: "a"},
		"one that has no end":       {written: []string{"a\xe2\x82"}, ended: true, want: "a\ufffd"},
		"no text":                   {written: []string{"\xffa\xff"}, ended: true, want: "a\ufffd", lost: true},
	} {
		tail := Tail{Limit: 4}
		for _, s := range tt.written {
			_, _ = tail.Write([]byte(s)) // never fails
			assert.LessOrEqual(t, tail.Len(), 8, name)
		}
		text, lost := tail.Text(tt.ended)
		assert.Equal(t, tt.want, text, name)
		assert.Equal(t, tt.lost, lost, name)
	}
}
