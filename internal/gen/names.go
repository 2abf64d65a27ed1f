package main

import (
	"cmp"
	"strings"
	"unicode"
)

// spellings are the words that have more capitals than the first.
var spellings = map[string]string{
	"Id": "ID", "Mcp": "MCP", "Url": "URL", "Uri": "URI", "Http": "HTTP", "Llm": "LLM",
	"Sse": "SSE", "Acp": "ACP", "Api": "API", "Mime": "MIME", "Fs": "FS",
	"Openai": "OpenAI",
}

// goName spells a name of the schema (camelCase, PascalCase, snake_case, kebab-case
// or words in a title) as an exported Go name.
func goName(name string) string {
	var out strings.Builder
	for _, word := range splitWords(name) {
		word = strings.ToUpper(word[:1]) + word[1:]
		out.WriteString(cmp.Or(spellings[word], word))
	}
	return out.String()
}

func splitWords(name string) []string {
	var list []string
	start := 0
	cut := func(end int) {
		if end > start {
			list = append(list, name[start:end])
		}
		start = end
	}
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			cut(i)
			start = i + len(string(r))
		case unicode.IsUpper(r):
			cut(i)
		}
	}
	cut(len(name))
	return list
}

// lower makes a Go name unexported: MCPServer becomes mcpServer.
func lower(name string) string {
	n := 1
	for n < len(name) && unicode.IsUpper(rune(name[n])) {
		n++
	}
	if n > 1 && n < len(name) {
		n-- // the last capital begins the next word
	}
	return strings.ToLower(name[:n]) + name[n:]
}
