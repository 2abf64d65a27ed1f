package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTail(t *testing.T) {
	tests := map[string]struct {
		limit     int
		writes    []string
		want      string
		truncated bool
	}{
		"nothing":           {10, nil, "", false},
		"fits":              {10, []string{"hello", "world"}, "helloworld", false},
		"the end is kept":   {5, []string{"hello", "world"}, "world", true},
		"no half character": {4, []string{"aé€"}, "€", true},
		"no limit to zero":  {0, []string{"x"}, "", true},
		"much":              {3, []string{strings.Repeat("a", 100_000), "bcd"}, "bcd", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tail := tail{limit: tt.limit}
			for _, w := range tt.writes {
				n, err := tail.Write([]byte(w))
				assert.NoError(t, err)
				assert.Equal(t, len(w), n)
			}
			got, truncated := tail.text()
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.truncated, truncated)
		})
	}
}
