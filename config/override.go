package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"motifd/matcher"
)

// envPrefix begins every variable that sets a field.
const envPrefix = "MOTIFD_"

// Fields lists the paths of all fields that the environment and flags can set, in the order of Config.
func Fields() []string { return leaves("", reflect.TypeFor[Config]()) }

func leaves(path string, t reflect.Type) []string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if isScalar(reflect.New(t).Elem()) || t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Struct {
		return []string{path}
	}
	if t.Kind() != reflect.Struct {
		return nil // a list of sections, or a map: the file's alone
	}
	var out []string
	for _, f := range fieldsOf(reflect.New(t).Elem()) {
		out = append(out, leaves(join(path, f.name), f.value.Type())...)
	}
	return out
}

// fileFields lists the paths of the maps and of the lists of sections, which only the file can set.
func fileFields(path string, t reflect.Type) (out []string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case isScalar(reflect.New(t).Elem()):
	case t.Kind() == reflect.Map, t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return []string{path}
	case t.Kind() == reflect.Struct:
		for _, f := range fieldsOf(reflect.New(t).Elem()) {
			out = append(out, fileFields(join(path, f.name), f.value.Type())...)
		}
	}
	return out
}

// inFileOnly reports whether only the file can set a field or a part of it, or all fields of a section.
func inFileOnly(path string) bool {
	section := func(f string) bool { return strings.HasPrefix(f, path+".") }
	return slices.ContainsFunc(fileFields("", reflect.TypeFor[Config]()), func(f string) bool {
		return path == f || strings.HasPrefix(path, f+".") || section(f) && !slices.ContainsFunc(Fields(), section)
	})
}

// EnvName returns the variable that sets a field.
func EnvName(path string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// overrideEnv sets fields from the environment, given as NAME=VALUE. unknown are the variables that name no field.
func overrideEnv(c *Config, environ []string) (unknown []string, errs Errors) {
	byName := make(map[string]string)
	for _, path := range Fields() {
		byName[EnvName(path)] = path
	}
	environ = slices.Clone(environ)
	slices.Sort(environ)
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || fromKubernetes(name, value) {
			continue
		}
		path, ok := byName[name]
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		if err := set(c, path, value, name); err != nil {
			errs = append(errs, err)
		}
	}
	return unknown, errs
}

// unknownVariables refuses variables that neither name a field nor are named by one as the place of a secret.
func unknownVariables(c *Config, unknown []string) (errs Errors) {
	var secrets, names []string
	for _, s := range c.secrets() {
		secrets = append(secrets, s.secret.Env)
	}
	for _, path := range Fields() {
		names = append(names, EnvName(path))
	}
	for _, name := range unknown {
		if !slices.Contains(secrets, name) {
			errs = append(errs, &Error{Where: name, Msg: unknownVariable(name, names)})
		}
	}
	return errs
}

func unknownVariable(name string, names []string) string {
	for _, f := range fileFields("", reflect.TypeFor[Config]()) {
		if name == EnvName(f) {
			return f + " is set in the file alone"
		}
	}
	if near := matcher.Nearest(name, names); near != "" {
		return fmt.Sprintf("no field has this variable; did you mean %s?", near)
	}
	return "no field has this variable; it is MOTIFD_ and the field's path in capitals: MOTIFD_BATCH_LINGER"
}

// The variables that Kubernetes sets in every container for each service of the namespace, such as motifd or
// motifd-metrics: MOTIFD_SERVICE_HOST, MOTIFD_SERVICE_PORT_HTTP, MOTIFD_METRICS_PORT_8080_TCP_ADDR. NAME_PORT is told
// by its value, tcp://ADDRESS:PORT, from the misspelt name of a field.
var (
	kubernetesName = regexp.MustCompile(
		`^MOTIFD_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`,
	)
	kubernetesPort = regexp.MustCompile(`^MOTIFD_(.+_)?PORT=(tcp|udp|sctp)://`)
)

// fromKubernetes tells variables that Kubernetes sets.
func fromKubernetes(name, value string) bool {
	return kubernetesName.MatchString(name) || kubernetesPort.MatchString(name+"="+value)
}

// overrideFlags sets fields from PATH=VALUE pairs.
func overrideFlags(c *Config, pairs []string) Errors {
	var errs Errors
	for _, pair := range pairs {
		path, value, ok := strings.Cut(pair, "=")
		where := "--set " + path // without the value, which may be a secret that was put into the wrong field
		if !ok {
			errs = append(errs, &Error{Where: where, Msg: "expected FIELD=VALUE, such as batch.linger=50ms"})
			continue
		}
		if slices.Contains(Fields(), path+".env") {
			errs = append(
				errs,
				&Error{
					Where: where,
					Msg: "a secret is never written on the command line; set " + path + ".file or " + path + ".env, " +
						"where it is read from",
				},
			)
			continue
		}
		if !slices.Contains(Fields(), path) {
			errs = append(errs, &Error{Where: where, Msg: unknownField(path)})
			continue
		}
		if err := set(c, path, value, where); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// unknownField says what there is in place of a field that --set names: the one that was probably meant, else the
// fields of its section, else the sections.
func unknownField(path string) string {
	fields := Fields()
	section, _, _ := strings.Cut(path, ".")
	if inFileOnly(path) {
		return path + " is set in the file alone"
	}
	switch inside := slices.DeleteFunc(slices.Clone(fields),
		func(f string) bool { return !strings.HasPrefix(f, section+".") }); {
	case matcher.Nearest(path, fields) != "":
		return unknown("field", path, fields)
	case len(inside) > 0:
		return unknown("field", path, inside)
	}
	var sections []string
	for _, f := range fields {
		s, _, _ := strings.Cut(f, ".")
		sections = append(sections, s)
	}
	return unknown("section", section, slices.Compact(sections))
}

// set gives the field of a known path the value that text stands for. Lists are written a,b.
func set(c *Config, path, text, where string) error {
	v := reflect.ValueOf(c).Elem()
	for _, name := range strings.Split(path, ".") {
		if v.Kind() == reflect.Pointer {
			v = allocate(v)
		}
		fs := fieldsOf(v)
		v = fs[slices.IndexFunc(fs, func(f field) bool { return f.name == name })].value
	}
	if err := setValue(v, text); err != nil {
		return &Error{where, path, err.Error()}
	}
	c.src.at[path] = where
	delete(c.src.nodes, path)
	return nil
}

func setValue(v reflect.Value, text string) error {
	if isScalar(v) {
		return setText(v, text)
	}
	list := reflect.MakeSlice(v.Type(), 0, 0)
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		e := reflect.New(v.Type().Elem()).Elem()
		if err := setText(e, item); err != nil {
			return err
		}
		list = reflect.Append(list, e)
	}
	v.Set(list)
	return nil
}
