package files

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// These tests call unexported functions, because only Windows treats these names specially.

func TestWindowsNames(t *testing.T) {
	for name, safe := range map[string]bool{
		"a.txt": true, "console": true, "COM10": true, "LPT": true, "a~b": true, "nul_": true, "backup~": true, "long name~1.txt": true, ".git": true,
		"CON": false, "con": false, "Con.txt": false, "NUL": false, "nul .txt": false, "AUX": false, "prn": false, "COM1": false, "lpt9.log": false,
		"COM¹": false, "CONIN$": false, "conout$": false,
		"a.txt:stream": false, "a::$DATA": false, "C:": false, "a.": false, "a ": false, "...": false, "a?": false, "a*": false, `a"`: false,
		"a<": false, "a|b": false, "a\x01": false, `a\b`: false, "a/b": false, "PROGRA~1": false, "secret~2.txt": false,
	} {
		assert.Equal(t, safe, safeName(name, "windows"), "%q", name)
		assert.True(t, safeName(name, "linux"), "%q", name)
	}
}

func TestSpelling(t *testing.T) {
	names := []string{"Makefile", "SECRETS", "Both", "both"}
	for name, want := range map[string]string{"makefile": "Makefile", "Secrets": "SECRETS", "both": "both", "new": "new"} {
		assert.Equal(t, want, spelling(names, name))
	}
}
