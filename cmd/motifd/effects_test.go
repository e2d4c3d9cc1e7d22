package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mayWork reports whether a package below dyngraph or matcher may start goroutines: those of the backends' pools. The
// GPU backend has several threads read a batch.
func mayWork(pkg string) bool {
	return pkg == "matcher/cpu" || pkg == "matcher/cpu/internal/work" || pkg == "matcher/cuda" ||
		strings.HasPrefix(pkg, "matcher/cuda/")
}

// readers are the packages there that may read files: package pattern reads those with patterns, when a program starts.
var readers = []string{"matcher/pattern"}

// effects lists packages and names that the deterministic core must not use: those of the operating system, and clocks
// beside the one in its Options. Imports are listed without a name.
var effects = map[string][]string{
	"os": nil, "os/exec": nil, "os/signal": nil, "io/ioutil": nil, "net": nil, "net/http": nil, "log": nil,
	"math/rand": nil,
	"time":      {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"},
	"context":   {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"},
}

// TestCoreHasNoEffects holds DESIGN H: a Step does no I/O, reads no clock but the one that was injected, and starts no
// goroutine but those of a worker pool; a Graph starts none at all.
func TestCoreHasNoEffects(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	for _, top := range []string{"dyngraph", "matcher"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, top),
			func(path string, d fs.DirEntry, err error) error {
				rel, _ := filepath.Rel(root, path)
				pkg := filepath.ToSlash(filepath.Dir(rel))
				if err != nil || d.IsDir() || slices.Contains(testOnly, pkg) {
					return err
				}
				if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
					return nil
				}
				files++
				set := token.NewFileSet()
				f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
				if err != nil {
					return err
				}
				for _, e := range effectsOf(f, pkg) {
					t.Errorf("%s:%d: %s", rel, set.Position(e.at).Line, e.what)
				}
				return nil
			}))
	}
	require.Greater(t, files, 100)
}

type effect struct {
	at   token.Pos
	what string
}

// effectsOf lists what a file of a package uses and must not.
func effectsOf(f *ast.File, pkg string) (found []effect) {
	for _, i := range f.Imports {
		name, _ := strconv.Unquote(i.Path.Value)
		if names, listed := effects[name]; listed && names == nil && !slices.Contains(readers, pkg) {
			found = append(found, effect{i.Pos(), "imports " + name})
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if !mayWork(pkg) {
				found = append(found, effect{n.Pos(), "starts a goroutine"})
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(effects[x.Name], n.Sel.Name) {
				found = append(found, effect{n.Pos(), "uses " + x.Name + "." + n.Sel.Name})
			}
			if n.Sel.Name == "Go" && !mayWork(pkg) {
				found = append(found, effect{n.Pos(), "starts a goroutine"})
			}
		}
		return true
	})
	return found
}

// TestEffectsAreFound: each kind of effect is seen in a file that has it.
func TestEffectsAreFound(t *testing.T) {
	src := `package p
import ("os"; "sync"; "time"; "context")
func f(ctx context.Context, wg *sync.WaitGroup) {
	go f(ctx, wg)
	wg.Go(func() { _ = os.Getpid() })
	_, _ = context.WithTimeout(ctx, time.Until(time.Now()))
}`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Len(t, effectsOf(f, "matcher"), 6)
	require.Len(t, effectsOf(f, "matcher/cpu"), 4)
}
