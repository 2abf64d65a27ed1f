package thread

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Meta contains data that both ends have agreed on: the _meta members of the protocol.
// Items accumulate it, up to 1000 keys; a newer value replaces an older one with the same key.
type Meta map[string]any

// The types of a [Block]. Other values are possible.
const (
	BlockText         = "text"
	BlockImage        = "image"
	BlockAudio        = "audio"
	BlockResourceLink = "resource_link"
	BlockResource     = "resource"
	BlockSkill        = "skill" // the call of a skill, whose name is Name; in version 2
)

// Block is one piece of content: text, an image, audio, a link, a resource or the call of a skill.
type Block struct {
	// Type is one of the Block constants or an unknown value, for which Raw holds the whole
	// block.
	Type string `json:"type"`
	// Text is the text of a text block or of a text resource.
	Text string `json:"text,omitempty"`
	// Data is the image, the audio or the binary resource in base64.
	Data     string `json:"data,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	// URI is the address of a link or a resource, or the origin of an image.
	URI string `json:"uri,omitempty"`
	// Name, Title, Description, Size and Icons describe a link. Name is also the name of a skill.
	Name        string       `json:"name,omitempty"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	Size        *int64       `json:"size,omitempty"`
	Icons       []Icon       `json:"icons,omitempty"`
	Annotations *Annotations `json:"annotations,omitempty"`
	Meta        Meta         `json:"meta,omitempty"`
	// ResourceMeta is the Meta of the resource inside an embedded resource.
	ResourceMeta Meta            `json:"resourceMeta,omitempty"`
	Raw          json.RawMessage `json:"raw,omitempty"`
}

// Icon is an image that represents a link. Theme is "light", "dark" or empty for both.
// Sizes are texts such as "48x48".
type Icon struct {
	URI      string   `json:"uri"`
	MIMEType string   `json:"mimeType,omitempty"`
	Sizes    []string `json:"sizes,omitempty"`
	Theme    string   `json:"theme,omitempty"`
	Meta     Meta     `json:"meta,omitempty"`
}

// Annotations are hints for the use of a [Block]. They deserve no more trust than the
// author of the Block.
type Annotations struct {
	Audience     []string `json:"audience,omitempty"`
	LastModified string   `json:"lastModified,omitempty"`
	Priority     *float64 `json:"priority,omitempty"`
	Meta         Meta     `json:"meta,omitempty"`
}

// The types of a [ToolContent]. Other values are possible.
const (
	ToolContentBlock    = "content"
	ToolContentDiff     = "diff"
	ToolContentTerminal = "terminal"
)

// ToolContent is one piece of the output of a tool call.
type ToolContent struct {
	// Type is one of the ToolContent constants or an unknown value, for which Raw holds the
	// whole content.
	Type  string `json:"type"`
	Block *Block `json:"block,omitempty"`
	Diff  *Diff  `json:"diff,omitempty"`
	// TerminalID is the id of the terminal whose output to show; see [Snapshot.Terminal].
	TerminalID string          `json:"terminalId,omitempty"`
	Meta       Meta            `json:"meta,omitempty"`
	Raw        json.RawMessage `json:"raw,omitempty"`
}

// Diff is a change of files. The agent sends either the old and the new text of one file,
// or a list of changes with an optional patch.
type Diff struct {
	// Changes lists the changed files.
	Changes []FileChange `json:"changes"`
	// OldText and NewText are the complete texts of the only file in Changes. Both are nil if
	// the agent sent no texts; OldText is also nil if the file is new.
	OldText *string `json:"oldText,omitempty"`
	NewText *string `json:"newText,omitempty"`
	// Patch is the change as a patch in the format PatchFormat; empty if the agent sent none.
	Patch       string `json:"patch,omitempty"`
	PatchFormat string `json:"patchFormat,omitempty"`
}

// The operations of a [FileChange]. Other values are possible.
const (
	FileAdd    = "add"
	FileDelete = "delete"
	FileModify = "modify"
	FileMove   = "move"
	FileCopy   = "copy"
)

// FileChange is a change of one file.
type FileChange struct {
	// Operation is one of the File constants or an unknown value.
	Operation string `json:"operation"`
	Path      string `json:"path,omitempty"`
	// OldPath is the source of a moved or copied file.
	OldPath  string          `json:"oldPath,omitempty"`
	FileType string          `json:"fileType,omitempty"`
	MIMEType string          `json:"mimeType,omitempty"`
	Meta     Meta            `json:"meta,omitempty"`
	Raw      json.RawMessage `json:"raw,omitempty"`
}

// Location is a place in a file that a tool call works on.
type Location struct {
	Path string `json:"path"`
	// Line is the line, counted from 1; nil means the whole file.
	Line *uint32 `json:"line,omitempty"`
	Meta Meta    `json:"meta,omitempty"`
}

// UnmarshalJSON decodes a number as a float64, or as a json.Number if it is an integer that
// would be encoded with other digits as a float64.
func (m *Meta) UnmarshalJSON(data []byte) error {
	var read map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&read); err != nil {
		return err
	}
	for k, v := range read {
		read[k] = floats(v)
	}
	*m = read
	return nil
}

// floats replaces the numbers in v by float64 where that loses nothing.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return v
		}
		if !strings.ContainsAny(v.String(), ".eE") && strconv.FormatFloat(f, 'f', -1, 64) != v.String() {
			return v
		}
		return f
	case map[string]any:
		for k, inner := range v {
			v[k] = floats(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = floats(inner)
		}
	}
	return v
}
