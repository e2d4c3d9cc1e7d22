package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
)

// Secret names where a secret is: a file or an environment variable, never the secret itself. It prints as ***
// (DESIGN P7).
type Secret struct {
	File string `yaml:"file"`
	Env  string `yaml:"env"`

	value string             // of the variable
	file  *reloading[string] // nil for a variable
}

// Set reports whether the secret is named.
func (s Secret) Set() bool { return s.File != "" || s.Env != "" }

// Reveal returns the secret. One in a file is read again, and what was read last stays when that fails.
func (s Secret) Reveal() string {
	if s.file != nil {
		return s.file.get()
	}
	return s.value
}

// String returns *** in place of the secret, so that no log shows it.
func (s Secret) String() string { return "***" }

// GoString is String.
func (s Secret) GoString() string { return "***" }

// MarshalJSON writes "***".
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"***"`), nil }

// resolve reads the secret. getenv looks up the environment. Errors show neither the file's name nor the variable's:
// either may be the secret, put into the wrong place.
func (s *Secret) resolve(src *sources, path string, getenv func(string) (string, bool)) (err error) {
	switch {
	case s.File != "" && s.Env != "":
		return errors.New("both file and env are set; one of them names the secret")
	case s.File != "":
		if s.file, err = reload(src, path, []string{s.File}, secretOf); err != nil {
			return fmt.Errorf("%w; file is the name of the file that holds the secret, which is not shown in case "+
				"it is "+
				"the secret itself", err)
		}
		return nil
	case s.Env != "":
		value, ok := getenv(s.Env)
		if !ok {
			return errors.New("the environment variable that env names is not set; its name is not shown in case it " +
				"is " +
				"the secret itself")
		}
		if s.value = value; value == "" {
			return errors.New("the secret is empty")
		}
	}
	return nil
}

// namedSecret is a secret and the path of its field.
type namedSecret struct {
	path   string
	secret *Secret
}

// secrets lists the secrets of the sections that there are.
func (c *Config) secrets() (out []namedSecret) {
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		switch {
		case !v.IsValid() || v.Kind() != reflect.Struct:
		case v.Type() == reflect.TypeFor[Secret]():
			out = append(out, namedSecret{path, v.Addr().Interface().(*Secret)})
		default:
			for _, f := range fieldsOf(v) {
				walk(join(path, f.name), f.value)
			}
		}
	}
	walk("", reflect.ValueOf(c).Elem())
	return out
}

// hostPort are the characters of an address.
var hostPort = regexp.MustCompile(`^[\pL\pN._:\[\]%-]*$`)

// plainAddress refuses an address that may hold a secret, without showing it.
func plainAddress(addr string) error {
	if !hostPort.MatchString(addr) {
		return errors.New(
			"the address has a scheme, a user, a path or something else that no host:port has; write host:port alone " +
				"(the address is not shown, as it may hold a secret)",
		)
	}
	return nil
}

// Warnings returns what is allowed, and should not be so.
func (c *Config) Warnings() []string {
	if c.src == nil {
		return nil
	}
	return c.src.warnings
}

// warn adds a warning about a field.
func (v *validator) warn(path, format string, args ...any) {
	w := &Error{v.c.src.where(path), path, fmt.Sprintf(format, args...)}
	v.c.src.warnings = append(v.c.src.warnings, w.Error())
}

// private warns of a file with a secret that every user of the machine can read.
func (v *validator) private(path, name string) {
	if name == "" || runtime.GOOS == "windows" {
		return
	}
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o004 != 0 {
		v.warn(
			path,
			"every user of this machine can read the file (mode %04o); make it 0600, or 0640 with a group",
			info.Mode().Perm(),
		)
	}
}

// isPEM reports whether what should be the name of a file is its content.
func isPEM(name string) bool {
	return strings.Contains(name, "-----BEGIN") || strings.Contains(name, "\n")
}
