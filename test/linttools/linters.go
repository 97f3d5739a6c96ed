package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// standard are the linters that "default: standard" enables.
var standard = []string{"errcheck", "govet", "ineffassign", "staticcheck", "unused"}

// enabled returns the linters that a configuration of golangci-lint enables.
func enabled(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var config struct {
		Linters struct {
			Default string
			Enable  []string
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	if config.Linters.Default != "standard" {
		return nil, fmt.Errorf("%s: linters.default is %q, only \"standard\" is known here", file, config.Linters.Default)
	}
	return append(slices.Clone(standard), config.Linters.Enable...), nil
}

// keepLinters removes from a copy of golangci-lint in dir every linter that the configuration does not enable.
func keepLinters(dir, config string) error {
	keep, err := enabled(config)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "pkg", "lint", "lintersdb", "builder_linter.go")
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	edited, err := filterBuilder(source, keep)
	if err != nil {
		return err
	}
	return os.WriteFile(file, edited, 0o644)
}

// filterBuilder removes the entries of linters from the list in builder_linter.go, except those to keep and those that come with golangci-lint itself
// (typecheck). It removes their imports as well. The package of a linter has its name.
func filterBuilder(source []byte, keep []string) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "builder_linter.go", source, 0)
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		list, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if _, ok := list.Type.(*ast.ArrayType); !ok {
			return true
		}
		list.Elts = slices.DeleteFunc(list.Elts, func(e ast.Expr) bool {
			name := linterOf(e)
			if name != "golinters" && !slices.Contains(keep, name) {
				return true
			}
			kept[name] = true
			return false
		})
		return false
	})
	for _, name := range keep {
		if !kept[name] {
			return nil, fmt.Errorf("linter %s is not in builder_linter.go", name)
		}
	}
	unusedVariables(file)
	dropImports(file)
	var out bytes.Buffer
	if err := format.Node(&out, set, file); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// linterOf returns the package of the linter in an entry: bodyclose for linter.NewConfig(bodyclose.New(…)).WithSince(…).
func linterOf(e ast.Expr) string {
	for {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			return ""
		}
		fun, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		pkg, ok := fun.X.(*ast.Ident)
		switch {
		case !ok:
			e = fun.X
		case pkg.Name != "linter":
			return pkg.Name
		case len(call.Args) == 0:
			return ""
		default:
			e = call.Args[0]
		}
	}
}

// unusedVariables uses every variable that a function defines by :=, because the entries that used it may be removed.
func unusedVariables(file *ast.File) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		var body []ast.Stmt
		for _, s := range f.Body.List {
			body = append(body, s)
			if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
				for _, v := range a.Lhs {
					body = append(body, &ast.AssignStmt{Lhs: []ast.Expr{ast.NewIdent("_")}, Tok: token.ASSIGN, Rhs: []ast.Expr{v}})
				}
			}
		}
		f.Body.List = body
	}
}

// dropImports removes imports that the file does not use.
func dropImports(file *ast.File) {
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok {
				used[pkg.Name] = true
			}
		}
		return true
	})
	for _, d := range file.Decls {
		if imports, ok := d.(*ast.GenDecl); ok && imports.Tok == token.IMPORT {
			imports.Specs = slices.DeleteFunc(imports.Specs, func(s ast.Spec) bool {
				spec := s.(*ast.ImportSpec)
				name, err := strconv.Unquote(spec.Path.Value)
				if spec.Name != nil {
					return !used[spec.Name.Name]
				}
				return err == nil && !used[path.Base(name)]
			})
		}
	}
}
