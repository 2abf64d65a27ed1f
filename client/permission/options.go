package permission

import "regexp"

// coveredOptions are the options that the "*" of a rule that allows covers, by the name of a program or
// of its subcommand. Whatever their values are, they run nothing and write no file. The "*" covers no
// options of other programs, and no subcommands that are missing here for a program of which there are
// some.
//
// The value of an option that ends with "=" may follow the letter, as in -n5. -NUM is a number, such as
// -20. "+" and "@" are words that begin with them.
var coveredOptions = map[string]string{
	"cat":  "-A -b -e -E -n -s -t -T -v --number --show-all",
	"date": "-d= -I= -u + --date --iso-8601 --utc",
	"diff": "-a -b -B -c -C= -i -N -q -r -s -u -U= -w -y --brief --color --ignore-all-space --recursive --unified",
	"du":   "-a -c -d= -h -k -m -s -x --all --human-readable --max-depth --summarize --total",
	"echo": "-e -E -n",
	"grep": "-a -A= -b -B= -c -C= -e= -E -F -G -h -H -i -I -l -L -m= -n -o -P -q -r -R -s -v -w -x -z -NUM -- " +
		"--after-context --before-context --color --context --count --exclude --exclude-dir --extended-regexp --files-with-matches " +
		"--fixed-strings --ignore-case --include --invert-match --line-number --max-count --no-messages --only-matching --quiet --recursive --word-regexp",
	"head": "-c= -n= -q -v -NUM --bytes --lines",
	"jq":   "-c -C -e -j -M -n -r -R -s -S --arg --argjson --compact-output --exit-status --null-input --raw-input --raw-output --slurp --sort-keys --tab",
	"ls": "-1 -a -A -B -c -C -d -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -u -U -v -x -X -- " +
		"--all --almost-all --classify --color --directory --group-directories-first --human-readable --recursive --reverse --size --sort --time",
	"make": "-B -i -j= -k -n -s -S -w --always-make --dry-run --jobs --keep-going --no-print-directory --output-sync --silent --quiet",
	"pwd":  "-L -P",
	"pytest": "-k= -l -m= -q -r= -s -v -x --co --collect-only --color --durations --exitfirst --failed-first --ff --last-failed --lf --maxfail --no-header " +
		"--quiet --showlocals --tb --verbose",
	"rg": "-a -A= -B= -c -C= -e= -F -g= -h -H -i -I -l -m= -n -N -o -p -P -q -s -S -t= -T= -u -U -v -w -x -- " +
		"--after-context --before-context --color --context --count --files --files-with-matches --files-without-match --fixed-strings --glob --heading --hidden " +
		"--iglob --ignore-case --line-number --max-count --max-depth --multiline --no-heading --no-ignore --only-matching --sort --stats --type --type-not --word-regexp",
	"sed":   "-E -n -r -s -u",
	"sort":  "-b -c -C -d -f -g -h -i -k= -M -n -r -R -s -t= -u -V -z --check --key --numeric-sort --reverse --unique --version-sort",
	"stat":  "-c= -L -t --dereference --format --printf --terse",
	"tail":  "-c= -f -F -n= -q -v -NUM --bytes --follow --lines",
	"tar":   "-f -j -J -t -v -z --bzip2 --gunzip --gzip --list --verbose --xz",
	"tree":  "-a -C -d -D -f -F -h -I= -i -L= -p -P= -s -S -t --dirsfirst --du --gitignore --noreport --prune",
	"uname": "-a -m -n -o -p -r -s -v",
	"wc":    "-c -l -L -m -w --bytes --chars --lines --words",
	"which": "-a",

	"cargo bench": ofCargo, "cargo build": ofCargo, "cargo check": ofCargo, "cargo clippy": ofCargo, "cargo test": ofCargo,
	"cargo fmt": "-q -v --all --check", "cargo tree": "-d -e= -i= -p= --depth --duplicates --edges --invert --package",

	"git add":    "-A -n -u -v -- --all --dry-run --intent-to-add --update --verbose",
	"git blame":  "-b -C= -e -f -l -L= -M= -s -t -w @ -- --date --line-porcelain --porcelain --show-email",
	"git branch": "-a -r -v --all --contains --list --merged --no-color --no-merged --points-at --remotes --show-current --sort",
	"git commit": "-a -m= -q -s -v --all --allow-empty --amend --message --no-edit --quiet --signoff --verbose",
	"git diff":   ofGit + " --cached --merge-base --staged", "git log": ofGit + ofGitLog, "git show": ofGit + ofGitLog,
	"git describe": "@ --abbrev --all --always --dirty --exact-match --long --match --tags",
	"git grep": "-c -e= -E -F -G -h -H -i -I -l -L -n -o -P -q -v -w -A= -B= -C= -NUM @ -- --all-match --and --cached --color --count --extended-regexp " +
		"--files-with-matches --fixed-strings --ignore-case --line-number --max-depth --not --or --perl-regexp --quiet --untracked --word-regexp",
	"git ls-files": "-c -d -i -k -m -o -s -t -u -v -z -- --cached --deleted --exclude-standard --full-name --modified --others --stage --unmerged",
	"git ls-tree":  "-d -l -r -t -z @ --full-name --full-tree --long --name-only", "git merge-base": "-a @ --all --fork-point --is-ancestor --octopus",
	"git rev-list":  "-n= -NUM @ -- --abbrev-commit --all --author --count --first-parent --grep --left-right --max-count --merges --no-merges --reverse --since --until",
	"git rev-parse": "-q @ --abbrev-ref --branches --git-common-dir --git-dir --is-inside-work-tree --short --show-prefix --show-toplevel --symbolic-full-name --verify",
	"git status": "-b -s -u= -v -z -- --ahead-behind --branch --column --ignored --long --no-ahead-behind --no-renames --porcelain --renames --short --show-stash " +
		"--untracked-files --verbose",

	"go build": ofGo, "go vet": ofGo + " -c -json", "go list": ofGo + " -deps -e -f -find -json -m -retracted -test -u -versions",
	"go test": ofGo + " -bench -benchmem -benchtime -count -cover -covermode -coverpkg -cpu -failfast -fullpath -json -list -parallel -run -short -shuffle -skip -timeout -vet",
	"go doc":  "-all -c -cmd -short -src -u", "go env": "-changed -json", "go version": "-m -v", "go fmt": "-n -x", "gofmt": "-d -e -l -s",
	"go mod graph": "", "go mod verify": "", "go mod why": "-m -vendor", "go mod tidy": "-e -v -x", "go mod download": "-json -x",

	"npm ls": "-a --all --depth --json --long", "npm outdated": "--json --long", "npm test": "-s -- --silent",
}

const (
	ofCargo = "-F= -j= -p= -q -v -- --all --all-features --all-targets --benches --bins --doc --exact --examples --features --ignored --jobs --keep-going --lib " +
		"--locked --message-format --nocapture --no-default-features --no-fail-fast --no-run --offline --package --quiet --release --show-output --test --test-threads " +
		"--tests --verbose --workspace"
	// These may run what the configuration of a repository names, which no rule lets an agent write
	// unless it names the file.
	ofGit = "-a -b -B= -C= -D -G= -M= -p -R -S= -s -u -U= -w -W -z @ -- --abbrev --check --color --color-words --compact-summary --diff-algorithm --diff-filter --dirstat " +
		"--exit-code --find-copies --find-renames --full-index --function-context --ignore-all-space --ignore-blank-lines --ignore-space-change --minimal --name-only " +
		"--name-status --no-color --no-ext-diff --no-patch --no-prefix --no-renames --no-textconv --numstat --patch --patch-with-stat --patience --pickaxe-regex --quiet " +
		"--raw --relative --shortstat --stat --summary --unified --word-diff"
	ofGitLog = " -c -E -F -g -i -L= -m -n= -P -NUM --abbrev-commit --after --all --author --before --branches --cc --cherry-pick --committer --date --date-order --decorate " +
		"--first-parent --follow --format --graph --grep --invert-grep --left-right --max-count --merges --no-decorate --no-merges --oneline --pretty --remotes --reverse " +
		"--simplify-by-decoration --since --skip --source --tags --topo-order --until --walk-reflogs"
	ofGo = "-a -asan -msan -n -p -race -tags -trimpath -v -x"
)

// scripts are the forms that the first argument of a program must have for a "*" to cover it, because
// it is a program itself: sed may print, skip and stop, but not execute and write.
var scripts = map[string]*regexp.Regexp{
	"sed": regexp.MustCompile(`^(([0-9]+|\$)(,([0-9]+|\$))?)?[pdq]$`),
}

// bundlers are programs whose first argument is a bundle of options, with or without a "-".
var bundlers = []string{"tar", "bsdtar", "gtar", "ar"}

// starters are the words by which programs run what the next words name, as in "npm exec". A "*"
// covers none as the first word.
var starters = []string{"run", "exec", "x", "dlx", "start", "shell", "eval", "foreach", "with"}
