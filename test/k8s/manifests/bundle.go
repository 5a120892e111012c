package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Bundle is what one kustomization renders to.
type Bundle struct {
	// Name is the kustomization's folder.
	Name string
	// All has every object, in the order that it is applied in.
	All []*unstructured.Unstructured

	// The objects of Kubernetes' own kinds, decoded strictly: a member that the API does not know is an error.
	Namespaces      []*corev1.Namespace
	Deployments     []*appsv1.Deployment
	Services        []*corev1.Service
	ServiceAccounts []*corev1.ServiceAccount
	ConfigMaps      []*corev1.ConfigMap
	Autoscalers     []*autoscalingv2.HorizontalPodAutoscaler
	Budgets         []*policyv1.PodDisruptionBudget
	NetworkPolicies []*networkingv1.NetworkPolicy
	// Custom are the objects of other kinds: definitions of those are needed to say more.
	Custom []*unstructured.Unstructured
}

// newDecoder returns a decoder that refuses what the API of the pinned version does not have, for the groups used here.
func newDecoder() (runtime.Decoder, *runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, autoscalingv2.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, nil, err
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer(), scheme, nil
}

// decode reads rendered YAML.
func decode(name string, text []byte) (*Bundle, error) {
	decoder, scheme, err := newDecoder()
	if err != nil {
		return nil, err
	}
	b := &Bundle{Name: name}
	documents := utilyaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	buffer := make([]byte, len(text)+1)
	for {
		n, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var object unstructured.Unstructured
		if err := yaml.UnmarshalStrict(buffer[:n], &object.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b.All = append(b.All, &object)
		if !scheme.Recognizes(object.GroupVersionKind()) {
			b.Custom = append(b.Custom, &object)
			continue
		}
		typed, _, err := decoder.Decode(buffer[:n], nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %s %s: %w", name, object.GetKind(), object.GetName(), err)
		}
		if err := b.add(typed); err != nil {
			return nil, fmt.Errorf("%s: %s %s: %w", name, object.GetKind(), object.GetName(), err)
		}
	}
}

// errOtherKind is for kinds that the rules have never looked at: secrets, roles, bare pods.
var errOtherKind = errors.New("not a kind that belongs into k8s/; the rules would not see it")

func (b *Bundle) add(object runtime.Object) error {
	switch o := object.(type) {
	case *corev1.Namespace:
		b.Namespaces = append(b.Namespaces, o)
	case *appsv1.Deployment:
		b.Deployments = append(b.Deployments, o)
	case *corev1.Service:
		b.Services = append(b.Services, o)
	case *corev1.ServiceAccount:
		b.ServiceAccounts = append(b.ServiceAccounts, o)
	case *corev1.ConfigMap:
		b.ConfigMaps = append(b.ConfigMaps, o)
	case *autoscalingv2.HorizontalPodAutoscaler:
		b.Autoscalers = append(b.Autoscalers, o)
	case *policyv1.PodDisruptionBudget:
		b.Budgets = append(b.Budgets, o)
	case *networkingv1.NetworkPolicy:
		b.NetworkPolicies = append(b.NetworkPolicies, o)
	default:
		return errOtherKind
	}
	return nil
}

// ConfigMap returns the ConfigMap of that name, or nil.
func (b *Bundle) ConfigMap(name string) *corev1.ConfigMap {
	for _, m := range b.ConfigMaps {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// ServerContainer is a container that runs the server.
type ServerContainer struct {
	// Deployment is whose pods it is in.
	Deployment *appsv1.Deployment
	// Container points into Deployment.
	Container *corev1.Container
	// Sidecar says that it serves the other containers of its pod only.
	Sidecar bool
}

// Servers returns the containers named thriftpack, which run the server.
func (b *Bundle) Servers() []ServerContainer {
	var found []ServerContainer
	for _, d := range b.Deployments {
		for i := range d.Spec.Template.Spec.Containers {
			if c := &d.Spec.Template.Spec.Containers[i]; c.Name == "thriftpack" {
				found = append(found, ServerContainer{Deployment: d, Container: c})
			}
		}
		for i := range d.Spec.Template.Spec.InitContainers {
			if c := &d.Spec.Template.Spec.InitContainers[i]; c.Name == "thriftpack" {
				found = append(found, ServerContainer{Deployment: d, Container: c, Sidecar: true})
			}
		}
	}
	return found
}

// Environment returns the variables of a container as os.Environ would, those of its ConfigMaps first.
func (b *Bundle) Environment(c *corev1.Container) ([]string, error) {
	var environ []string
	for _, from := range c.EnvFrom {
		if from.ConfigMapRef == nil {
			return nil, errors.New("envFrom something else than a ConfigMap")
		}
		m := b.ConfigMap(from.ConfigMapRef.Name)
		if m == nil {
			return nil, fmt.Errorf("envFrom ConfigMap %s, which does not exist", from.ConfigMapRef.Name)
		}
		for name, value := range m.Data {
			environ = append(environ, from.Prefix+name+"="+value)
		}
	}
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			environ = append(environ, e.Name+"="+e.Value)
		}
	}
	return environ, nil
}
