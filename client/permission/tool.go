package permission

import (
	"encoding/json"
	"slices"

	"github.com/acpkit/go-sdk/client/thread"
)

// Tool is the tool call that a question is about. All fields are claims of the agent.
type Tool struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Title string `json:"title,omitempty"`
	// Input is the input of the tool, any JSON; nil means unknown.
	Input json.RawMessage `json:"input,omitempty"`
	// Diffs lists the changes in its content. Paths lists its locations.
	Diffs []Diff   `json:"diffs,omitempty"`
	Paths []string `json:"paths,omitempty"`
	// Patches lists the changes in its content that are patches in the format of git. Diffs
	// has an entry without texts for each file of a patch.
	Patches []string `json:"patches,omitempty"`
}

// Diff is a change of a file, as claimed by the agent.
type Diff struct {
	Path string `json:"path"`
	// OldText and NewText are the whole text before and after the change; nil if there is none
	// or it is unknown.
	OldText *string `json:"oldText,omitempty"`
	NewText *string `json:"newText,omitempty"`
}

// ToolOf returns a tool call from the only change of it that is known, as a question has it.
func ToolOf(ch thread.ToolCallChanged) *Tool {
	t := &Tool{ID: ch.ID}
	t.apply(&ch)
	return t
}

// apply changes the tool call. It does not write to the lists that t has, because a question may
// have them too.
func (t *Tool) apply(ch *thread.ToolCallChanged) {
	set(&t.Name, ch.Name)
	set(&t.Kind, ch.Kind)
	set(&t.Title, ch.Title)
	set(&t.Input, ch.RawInput)
	if ch.Content != nil {
		t.Diffs, t.Patches = []Diff{}, []string{}
		t.add(*ch.Content)
	}
	if ch.Locations != nil {
		t.Paths = []string{}
		for _, l := range *ch.Locations {
			t.Paths = append(t.Paths, l.Path)
		}
	}
	t.add(ch.Append)
}

// add adds the diffs and the patches in content.
func (t *Tool) add(content []thread.ToolContent) {
	t.Diffs, t.Patches = slices.Clip(t.Diffs), slices.Clip(t.Patches)
	for _, c := range content {
		if c.Diff == nil {
			continue
		}
		for _, change := range c.Diff.Changes {
			for _, name := range changed(&change) {
				t.Diffs = append(t.Diffs, Diff{name, c.Diff.OldText, c.Diff.NewText})
			}
		}
		if c.Diff.Patch != "" {
			t.Patches = append(t.Patches, c.Diff.Patch)
		}
	}
}

// changed returns the files that a change creates, changes or removes. For a change of an unknown
// kind it returns the files that the change names, so that rules that deny or ask see them.
func changed(c *thread.FileChange) []string {
	switch {
	case c.Operation == thread.FileMove:
		return []string{c.OldPath, c.Path}
	case c.Raw == nil:
		return []string{c.Path}
	}
	var read struct {
		OldPath string `json:"oldPath"`
		Path    string `json:"path"`
	}
	if json.Unmarshal(c.Raw, &read) != nil {
		return nil
	}
	return slices.DeleteFunc([]string{read.OldPath, read.Path}, func(name string) bool { return name == "" })
}

func set[T any](p *T, v *T) {
	if v != nil {
		*p = *v
	}
}
