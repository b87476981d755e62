//go:build !js

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
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
		fmt.Fprintln(os.Stderr, "usage: go run ./site FOLDER")
		os.Exit(2)
	}
	if err := build(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// Limits of the engine's size, in bytes.
const (
	maxRaw        = 15_500_000
	maxCompressed = 4_000_000
)

// build leaves the site in a folder: pages, scripts, and the engine, compressed.
func build(folder string) error {
	goTool := "go"
	if given := os.Getenv("GO"); given != "" {
		goTool = given
	}
	out, err := exec.Command(goTool, "env", "GOROOT", "GOMOD").Output()
	if err != nil {
		return err
	}
	root, module, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	loader, err := os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	write := func(name string, data []byte) error {
		path := filepath.Join(folder, filepath.FromSlash(name))
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644))
	}
	if _, err := pages(filepath.Dir(module), write); err != nil {
		return err
	}
	if err := write("wasm_exec.js", loader); err != nil {
		return err
	}
	return compiled(goTool, folder, write)
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

// compiled writes the engine.
func compiled(goTool, folder string, write func(name string, data []byte) error) error {
	fmt.Println("compiling the engine to WebAssembly, which takes a minute the first time")
	raw := filepath.Join(folder, "engine.wasm")
	compile := exec.Command(goTool, "build", "-trimpath", "-ldflags", "-s -w", "-o", raw, "optratio/site")
	compile.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	compile.Stderr = os.Stderr
	if err := compile.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	engine, err := os.ReadFile(raw)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(engine); err != nil {
		return err
	}
	if err := errors.Join(w.Close(), write("engine.wasm.gz", packed.Bytes()), os.Remove(raw)); err != nil {
		return err
	}
	fmt.Printf("%s: the engine has %.1f MB, %.1f MB compressed\n", folder, float64(len(engine))/1e6, float64(packed.Len())/1e6)
	if len(engine) > maxRaw || packed.Len() > maxCompressed {
		return fmt.Errorf("the engine is larger than %d bytes, or %d compressed", maxRaw, maxCompressed)
	}
	return nil
}
