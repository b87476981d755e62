//go:build !js

package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"optratio/cli"
	"optratio/internal/front"
	"optratio/internal/job"
	"optratio/lp"
)

var (
	//go:embed page.js
	pageScript []byte
	//go:embed worker.js
	workerScript []byte
)

func main() {
	lp.Register()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./site FOLDER, or scripts/site FOLDER with the engine too")
		os.Exit(2)
	}
	_, err := pages(".", func(name string, data []byte) error {
		path := filepath.Join(os.Args[1], filepath.FromSlash(name))
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644))
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// taken is how long an answer took, which no two builds have in common.
var taken = regexp.MustCompile(`(seconds&#34;: )[0-9.e-]+`)

// pages writes all but the engine: the forms with their answers, the documents of the repository, and scripts.
func pages(root string, write func(name string, data []byte) error) (*library, error) {
	version := cli.Version
	if commit, err := exec.Command("git", "-C", root, "rev-parse", "--short=12", "HEAD").Output(); err == nil {
		version += ", commit " + strings.TrimSpace(string(commit))
	}
	site := &front.Site{Static: true, Version: version, Source: os.Getenv("SOURCE"), Run: func(ctx context.Context, j front.Job) (*job.Answer, error) {
		return run(ctx, j, func(string, ...any) {})
	}}
	for _, view := range site.Views() {
		c := site.Begin(view.Name, nil)
		c.Whole(context.Background())
		var page bytes.Buffer
		if err := cmp.Or(c.Err, c.WritePage(&page)); err != nil {
			return nil, fmt.Errorf("%s: %w", front.File(view.Name), err)
		}
		if err := write(front.File(view.Name), taken.ReplaceAll(page.Bytes(), []byte("${1}0"))); err != nil {
			return nil, err
		}
	}
	l := &library{root: root, front: site, files: map[string]bool{}}
	if err := l.read(); err != nil {
		return nil, err
	}
	for name, data := range map[string][]byte{"page.js": pageScript, "worker.js": workerScript, "app.js": front.Script, "search.js": searchScript, "app.css": []byte(front.Style() + documentStyle)} {
		if err := write(name, data); err != nil {
			return nil, err
		}
	}
	fmt.Printf("%d pages, %d documents and their files\n", len(site.Views()), len(l.pages))
	return l, l.write(write)
}
