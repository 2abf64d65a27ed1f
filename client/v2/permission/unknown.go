package permission

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp/v2"
)

// named returns the files that an operation of an unknown kind names, so that rules that
// deny or ask see them.
func named(o *acp.UnknownDiffOperation) []acp.AbsolutePath {
	var read struct {
		OldPath acp.AbsolutePath `json:"oldPath"`
		Path    acp.AbsolutePath `json:"path"`
	}
	if json.Unmarshal(o.Raw, &read) != nil {
		return nil
	}
	var all []acp.AbsolutePath
	for _, p := range []acp.AbsolutePath{read.OldPath, read.Path} {
		if p != "" {
			all = append(all, p)
		}
	}
	return all
}
