package main

import (
	"bytes"
	"fmt"
	"go/format"
	"regexp"
	"strings"
)

// file is one Go file being written.
type file struct {
	bytes.Buffer
	wrong []string // conditions of a check that are not written yet
}

func (f *file) p(format string, args ...any) { fmt.Fprintf(f, format+"\n", args...) }

// imports are the packages that generated code may use, by their names.
var imports = []struct{ name, path string }{
	{"cmp", "cmp"},
	{"context", "context"},
	{"json", "encoding/json"},
	{"reflect", "reflect"},
	{"strings", "strings"},
	{"acp", ""}, // the vocabulary of the version
	{"v1", module + "acp"},
	{"codectest", module + "internal/codectest"},
	{"endpoint", module + "internal/endpoint"},
	{"libconn", module + "internal/libconn"},
	{"rpc", module + "internal/rpc"},
	{"roles", module + "internal/roles"},
	{"wire", module + "internal/wire"},
}

var (
	commentLine = regexp.MustCompile(`(?m)^\s*//.*$`)
	qualified   = regexp.MustCompile(`\b([a-z]+1?)\.[A-Z]`)
)

// source formats the file as one of package pkg. It returns nil for an empty file.
func (f *file) source(v *vocabulary, pkg string) ([]byte, error) {
	body := f.String()
	if strings.TrimSpace(body) == "" {
		return nil, nil
	}
	uses := map[string]bool{}
	for _, m := range qualified.FindAllStringSubmatch(commentLine.ReplaceAllString(body, ""), -1) {
		uses[m[1]] = true
	}
	var standard, ours []string
	for _, im := range imports {
		switch {
		case !uses[im.name] || im.name == pkg:
		case im.path == "":
			ours = append(ours, fmt.Sprintf("%q", module+v.version.folder("acp")))
		case im.name == "v1":
			ours = append(ours, fmt.Sprintf("v1 %q", im.path))
		case strings.HasPrefix(im.path, module):
			ours = append(ours, fmt.Sprintf("%q", im.path))
		default:
			standard = append(standard, fmt.Sprintf("%q", im.path))
		}
	}
	head := v.header + "package " + pkg + "\n\n"
	if len(standard)+len(ours) > 0 {
		head += "import (\n" + strings.Join(standard, "\n") + "\n\n" + strings.Join(ours, "\n") + "\n)\n\n"
	}
	return format.Source([]byte(head + body))
}
