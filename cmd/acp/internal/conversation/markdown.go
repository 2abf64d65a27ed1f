package conversation

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/acpkit/go-sdk/client/thread"
)

const (
	// markdownAtMost is the length of a message that is shown as Markdown. It is converted again for each state of
	// a page while it grows.
	markdownAtMost = 64 << 10
	// signsAtMost is how many signs that may begin or end something a paragraph has. The time for a
	// paragraph grows with the square of their number: half a minute for 64 KiB of them.
	signsAtMost = 1000
)

// converter leaves out the addresses of scripts, and shows HTML as the text that it is.
var converter = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(plainHTML{}, 1))))

// plainHTML renders raw HTML as text.
type plainHTML struct{}

func (plainHTML) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.Write(util.EscapeHTML(n.(*ast.RawHTML).Segments.Value(source))) // it buffers
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			block := n.(*ast.HTMLBlock)
			text := block.Lines().Value(source)
			if block.HasClosure() {
				text = append(text, block.ClosureLine.Value(source)...)
			}
			_, _ = w.WriteString("<p>" + string(util.EscapeHTML(text)) + "</p>\n") // it buffers
		}
		return ast.WalkContinue, nil
	})
}

// markdown returns a message as HTML, or nothing if it is more than a text, or would take long.
func markdown(m *thread.Message) string {
	if m.Content.Len() != 1 {
		return ""
	}
	block := m.Content.At(0)
	if block.Type != thread.BlockText || len(block.Text) > markdownAtMost {
		return ""
	}
	signs := 0
	for line := range strings.Lines(block.Text) {
		if strings.TrimSpace(line) == "" {
			signs = 0
		}
		for _, sign := range "*_[>~" {
			signs += strings.Count(line, string(sign))
		}
		if signs > signsAtMost {
			return ""
		}
	}
	var out bytes.Buffer
	if converter.Convert([]byte(block.Text), &out) != nil {
		return ""
	}
	return out.String()
}
