package permission_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/permission"
)

// Windows has many spellings of a path. Each is denied, or a person is asked.
func TestSpellingsOfPathsThatAreDenied(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	secret := filepath.Join(dir, "secret")
	require.NoError(t, os.MkdirAll(filepath.Join(secret, "deep"), 0o700))
	volume := filepath.VolumeName(dir)
	slashed := filepath.ToSlash(dir)
	const denied, asked = permission.ByRule, permission.ByPerson
	for _, pattern := range []string{slashed + "/secret/**", slashed[len(volume):] + "/secret/**", strings.ToUpper(slashed) + "/SECRET/**", "/**/secret/**"} {
		d := newTestScope(t, permission.Options{Ask: pick(permission.AllowOnce)},
			permission.Rule{Decision: permission.Allow, Tools: []string{"t"}},
			permission.Rule{Decision: permission.Deny, Paths: []string{pattern}},
		)
		for path, by := range map[string]permission.Reason{
			secret + `\a`:                                 denied,
			slashed + "/secret/a":                         denied,
			strings.ToUpper(secret) + `\A`:                denied,
			strings.ToLower(secret) + `\no\such\folder\a`: denied,
			secret + `\deep\..\a`:                         denied,
			dir + `\no\..\secret\a`:                       denied,
			secret[len(volume):] + `\a`:                   asked, // of the current drive
			slashed[len(volume):] + "/secret/a":           asked,
			volume + `secret\a`:                           asked, // of the current folder of the drive
			`\\?\` + secret + `\a`:                        asked,
			`\\.\` + secret + `\a`:                        asked,
			`\??\` + secret + `\a`:                        asked,
			`\\localhost\C$` + secret[len(volume):]:       asked,
			secret + `.\a`:                                asked,
			secret + ` \a`:                                asked,
			secret + `::$INDEX_ALLOCATION\a`:              asked,
			dir + `\open:stream`:                          asked,
			dir + `\open`:                                 permission.ByRule, // that of the tool
		} {
			o := d.Decide(t.Context(), question(permission.Tool{Name: "t", Paths: []string{path}}))
			assert.Equal(t, by, o.By, "%s %s", pattern, path)
			assert.Equal(t, by == denied && path != dir+`\open`, o.Decision == permission.Deny, "%s %s", pattern, path)
		}
	}
}

// A pattern without a drive allows nothing, because the drive is not known.
func TestPatternsWithoutADriveAllowNothing(t *testing.T) {
	d := newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Allow, Paths: []string{"/w/**"}})
	assert.Error(t, d.Authorize(t.Context(), write(`C:\w\a`, "")))
	d = newTestScope(t, permission.Options{}, permission.Rule{Decision: permission.Allow, Paths: []string{"c:/W/**"}})
	assert.NoError(t, d.Authorize(t.Context(), write(`C:\w\a`, "")))
	assert.Error(t, d.Authorize(t.Context(), write(`D:\w\a`, "")))
}
