//go:build kafka && unix

package brokertest

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"maps"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Secured is a broker that listens with SASL and TLS, too. Over Addr everything is allowed to everybody; users and
// clients with a certificate may do what Allow says.
type Secured struct {
	*Broker
	// SASL is the address for SASL without TLS, TLS that for TLS with any client, Mutual that for clients with a
	// certificate, and SASLTLS that for both.
	SASL, TLS, Mutual, SASLTLS string
	// Certs made the broker's certificate.
	Certs *Authority
	// Users are those that SASL knows.
	Users []User
}

// User is a user with its password.
type User struct {
	Mechanism string // as the configuration of motifd names it
	Name      string
	Password  string
}

// listener is a listener beside the one without security.
type listener struct {
	name, protocol, addr string
	properties           map[string]string // without the prefix that they share
}

// add extends server.properties.
func (l listener) add(lines map[string]string) {
	lines["listeners"] += fmt.Sprintf(",%s://%s", l.name, l.addr)
	lines["advertised.listeners"] += fmt.Sprintf(",%s://%s", l.name, l.addr)
	lines["listener.security.protocol.map"] += fmt.Sprintf(",%s:%s", l.name, l.protocol)
	for k, v := range l.properties {
		lines["listener.name."+strings.ToLower(l.name)+"."+k] = v
	}
}

const scramModule = "org.apache.kafka.common.security.scram.ScramLoginModule required;"

// StartSecured starts a broker like Start, with security.
func StartSecured(t testing.TB, properties map[string]string) *Secured {
	t.Helper()
	s := &Secured{Broker: &Broker{dir: t.TempDir(), lib: findLib(t)}, Certs: NewAuthority(t)}
	for i, mechanism := range []string{"plain", "scram-sha-256", "scram-sha-512"} {
		s.Users = append(s.Users, User{mechanism, fmt.Sprintf("user-%d", i), "Passw0rd-" + rand.Text()})
	}
	var addrs []string
	for _, port := range FreePorts(t, 4) {
		addrs = append(addrs, fmt.Sprintf("127.0.0.1:%d", port))
	}
	s.SASL, s.TLS, s.Mutual, s.SASLTLS = addrs[0], addrs[1], addrs[2], addrs[3]
	store := s.Certs.Issue(t, "broker")
	tls := map[string]string{
		"ssl.keystore.type": "PEM", "ssl.keystore.location": store.Both,
		"ssl.truststore.type": "PEM", "ssl.truststore.location": s.Certs.CAFile,
	}
	mutual := maps.Clone(tls)
	mutual["ssl.client.auth"] = "required"
	sasl := map[string]string{
		"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
		"plain.sasl.jaas.config": fmt.Sprintf(
			"org.apache.kafka.common.security.plain.PlainLoginModule required user_%s=%q;",
			s.Users[0].Name, s.Users[0].Password),
		"scram-sha-256.sasl.jaas.config": scramModule, "scram-sha-512.sasl.jaas.config": scramModule,
	}
	both := maps.Clone(tls)
	maps.Copy(both, sasl)
	s.listeners = []listener{
		{"SASL", "SASL_PLAINTEXT", s.SASL, sasl}, {"TLS", "SSL", s.TLS, tls},
		{"MUTUAL", "SSL", s.Mutual, mutual}, {"SASLTLS", "SASL_SSL", s.SASLTLS, both},
	}
	lines := map[string]string{
		"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":           "User:ANONYMOUS",
	}
	maps.Copy(lines, properties)
	start(t, s.Broker, lines)
	s.addUsers(t)
	return s
}

// request sends a request over the listener without security.
func (s *Secured) request(t testing.TB, req kmsg.Request) kmsg.Response {
	t.Helper()
	cl, err := NewClient(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	resp, err := cl.Request(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// addUsers stores the passwords of SCRAM (RFC 5802, section 3).
func (s *Secured) addUsers(t testing.TB) {
	t.Helper()
	const iterations = 4096
	req := kmsg.NewPtrAlterUserSCRAMCredentialsRequest()
	for mechanism, u := range s.Users {
		if mechanism == 0 {
			continue // PLAIN: in the broker's configuration
		}
		h := []func() hash.Hash{1: sha256.New, 2: sha512.New}[mechanism]
		up := kmsg.NewAlterUserSCRAMCredentialsRequestUpsertion()
		up.Name, up.Mechanism, up.Iterations, up.Salt = u.Name, int8(mechanism), iterations, []byte(rand.Text())
		var err error
		up.SaltedPassword, err = pbkdf2.Key(h, u.Password, up.Salt, iterations, hmac.New(h, nil).Size())
		if err != nil {
			t.Fatal(err)
		}
		req.Upsertions = append(req.Upsertions, up)
	}
	for _, r := range s.request(t, req).(*kmsg.AlterUserSCRAMCredentialsResponse).Results {
		if r.ErrorCode != 0 {
			t.Fatalf("user %s: error %d", r.User, r.ErrorCode)
		}
	}
	Settle(t, s.addr)
}

// Permission is an operation on a resource, whose name may end with * for a prefix.
type Permission struct {
	Operation kmsg.ACLOperation
	Kind      kmsg.ACLResourceType
	Name      string
}

// Allow permits something to a principal: User:alice, or User:CN=alice of a certificate.
func (s *Secured) Allow(t testing.TB, principal string, permissions ...Permission) {
	t.Helper()
	req := kmsg.NewPtrCreateACLsRequest()
	for _, p := range permissions {
		c := kmsg.NewCreateACLsRequestCreation()
		c.ResourceType, c.ResourceName, c.ResourcePatternType = p.Kind, p.Name, kmsg.ACLResourcePatternTypeLiteral
		if prefix, ok := strings.CutSuffix(p.Name, "*"); ok && prefix != "" {
			c.ResourceName, c.ResourcePatternType = prefix, kmsg.ACLResourcePatternTypePrefixed
		}
		c.Principal, c.Host, c.Operation, c.PermissionType = principal, "*", p.Operation, kmsg.ACLPermissionTypeAllow
		req.Creations = append(req.Creations, c)
	}
	for _, r := range s.request(t, req).(*kmsg.CreateACLsResponse).Results {
		if r.ErrorCode != 0 {
			t.Fatalf("permission: error %d", r.ErrorCode)
		}
	}
	Settle(t, s.addr)
}

// AllowAll permits everything to a principal.
func (s *Secured) AllowAll(t testing.TB, principal string) {
	t.Helper()
	var all []Permission
	for _, kind := range []kmsg.ACLResourceType{kmsg.ACLResourceTypeTopic, kmsg.ACLResourceTypeGroup,
		kmsg.ACLResourceTypeTransactionalId} {
		all = append(all, Permission{kmsg.ACLOperationAll, kind, "*"})
	}
	cluster := Permission{kmsg.ACLOperationAll, kmsg.ACLResourceTypeCluster, "kafka-cluster"}
	s.Allow(t, principal, append(all, cluster)...)
}
