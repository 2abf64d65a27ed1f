package thread

import "encoding/json"

// Meta is what the two ends agreed on between themselves, as the protocol carries it in
// its _meta members. Items collect it: of equal keys the newest counts.
type Meta map[string]any

// The types of a [Block]. Others are possible.
const (
	BlockText         = "text"
	BlockImage        = "image"
	BlockAudio        = "audio"
	BlockResourceLink = "resource_link"
	BlockResource     = "resource"
)

// Block is one piece of content: text, a picture, a sound, a link or a resource.
type Block struct {
	// Type is one of the Block constants or a value that this package does not know; Raw
	// holds the whole block then.
	Type string `json:"type"`
	// Text is the text of a text block, or of a resource that is text.
	Text string `json:"text,omitempty"`
	// Data is the picture, the sound or the binary resource in base64.
	Data     string `json:"data,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	// URI is the address of a link or a resource, or says where a picture came from.
	URI string `json:"uri,omitempty"`
	// Name, Title, Description, Size and Icons describe a link.
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

// Icon is a picture that stands for a link, for the theme "light", "dark" or both. Sizes
// are texts such as "48x48".
type Icon struct {
	URI      string   `json:"uri"`
	MIMEType string   `json:"mimeType,omitempty"`
	Sizes    []string `json:"sizes,omitempty"`
	Theme    string   `json:"theme,omitempty"`
	Meta     Meta     `json:"meta,omitempty"`
}

// Annotations are hints on how to use a [Block]. Trust them as far as the author of the
// Block.
type Annotations struct {
	Audience     []string `json:"audience,omitempty"`
	LastModified string   `json:"lastModified,omitempty"`
	Priority     *float64 `json:"priority,omitempty"`
	Meta         Meta     `json:"meta,omitempty"`
}

// The types of a [ToolContent]. Others are possible.
const (
	ToolContentBlock    = "content"
	ToolContentDiff     = "diff"
	ToolContentTerminal = "terminal"
)

// ToolContent is one piece of what a tool call produced.
type ToolContent struct {
	// Type is one of the ToolContent constants or a value that this package does not know;
	// Raw holds the whole piece then.
	Type  string `json:"type"`
	Block *Block `json:"block,omitempty"`
	Diff  *Diff  `json:"diff,omitempty"`
	// TerminalID names the terminal whose output is to be shown; see [Snapshot.Terminal].
	TerminalID string          `json:"terminalId,omitempty"`
	Meta       Meta            `json:"meta,omitempty"`
	Raw        json.RawMessage `json:"raw,omitempty"`
}

// Diff is a change of files. The agent sends either the texts before and after of one
// file, or a patch.
type Diff struct {
	// Changes says what happens to which files.
	Changes []FileChange `json:"changes"`
	// OldText and NewText are the whole texts of the one file in Changes. NewText is nil if
	// the agent sent no texts, OldText also if the file is new.
	OldText *string `json:"oldText,omitempty"`
	NewText *string `json:"newText,omitempty"`
	// Patch is the change as a patch of the format PatchFormat; empty if the agent sent
	// none.
	Patch       string `json:"patch,omitempty"`
	PatchFormat string `json:"patchFormat,omitempty"`
}

// The operations of a [FileChange]. Others are possible.
const (
	FileAdd    = "add"
	FileDelete = "delete"
	FileModify = "modify"
	FileMove   = "move"
	FileCopy   = "copy"
)

// FileChange says what happens to one file.
type FileChange struct {
	// Operation is one of the File constants or a value that this package does not know.
	Operation string `json:"operation"`
	Path      string `json:"path,omitempty"`
	// OldPath is where a moved or copied file comes from.
	OldPath  string          `json:"oldPath,omitempty"`
	FileType string          `json:"fileType,omitempty"`
	MIMEType string          `json:"mimeType,omitempty"`
	Meta     Meta            `json:"meta,omitempty"`
	Raw      json.RawMessage `json:"raw,omitempty"`
}

// Location points to a file that a tool call works on.
type Location struct {
	Path string `json:"path"`
	// Line counts from 1; nil means the file as a whole.
	Line *uint32 `json:"line,omitempty"`
	Meta Meta    `json:"meta,omitempty"`
}
