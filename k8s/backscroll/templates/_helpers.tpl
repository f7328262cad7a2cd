{{- define "backscroll.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* All labels of a part: (list $ "gateway"). */}}
{{- define "backscroll.labels" -}}
{{- $root := index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name ($root.Chart.Version | replace "+" "_") }}
app.kubernetes.io/version: {{ $root.Values.image.tag | default $root.Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
app.kubernetes.io/part-of: backscroll
{{ include "backscroll.selector" . }}
{{- end -}}

{{- define "backscroll.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ $root.Values.nameOverride | default $root.Chart.Name }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "backscroll.image" -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}

{{- /* What every pod has; fixed, so that no value can weaken it. */}}
{{- define "backscroll.podSecurity" -}}
automountServiceAccountToken: false
{{- /* Kubernetes would set BACKSCROLL_PORT for a Service `backscroll`, which is a setting. */}}
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "backscroll.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{- /* Where the parts of a release are. The two charts name their services in this way. */}}
{{- define "backscroll.subchartName" -}}
{{- $root := index . 0 -}}{{- $chart := index . 1 -}}
{{- $values := index $root.Values $chart -}}
{{- if $values.fullnameOverride -}}
{{- $values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := $values.nameOverride | default $chart -}}
{{- if contains $name $root.Release.Name -}}
{{- $root.Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" $root.Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "backscroll.busUrl" -}}
{{- if .Values.nats.enabled -}}
nats://{{ include "backscroll.subchartName" (list . "nats") }}:4222
{{- else -}}
{{- required "bus.url is needed where nats.enabled is false" .Values.bus.url -}}
{{- end -}}
{{- end -}}

{{- define "backscroll.busMonitor" -}}
{{- if .Values.nats.enabled -}}
{{ include "backscroll.subchartName" (list . "nats") }}-headless.{{ .Release.Namespace }}.svc.cluster.local:8222
{{- else -}}
{{- required "bus.monitor is needed to scale by lag where nats.enabled is false" .Values.bus.monitor -}}
{{- end -}}
{{- end -}}

{{- define "backscroll.storeUrl" -}}
{{- if .Values.qdrant.enabled -}}
http://{{ include "backscroll.subchartName" (list . "qdrant") }}:6333
{{- else -}}
{{- required "store.url is needed where qdrant.enabled is false: the embedded store is open in one process at a time" .Values.store.url -}}
{{- end -}}
{{- end -}}

{{- /* Base URL of a model server, or nothing: (list $ "embedding"). */}}
{{- define "backscroll.modelUrl" -}}
{{- $root := index . 0 -}}{{- $kind := index . 1 -}}
{{- $values := index $root.Values $kind -}}
{{- if $values.server.enabled -}}
http://{{ include "backscroll.fullname" $root }}-{{ $kind }}:8080{{ if eq $kind "embedding" }}/v1{{ end }}
{{- else -}}
{{- $values.url -}}
{{- end -}}
{{- end -}}

{{- /* Port of a URL: (list url default). */}}
{{- define "backscroll.port" -}}
{{- $parsed := urlParse (index . 0) -}}
{{- $given := regexFind ":[0-9]+$" $parsed.host | trimPrefix ":" -}}
{{- $given | default (index . 1 | default (dict "https" "443" "http" "80" | dig $parsed.scheme "4222")) -}}
{{- end -}}

{{- /* Where NATS is there already, what provisions it is a hook: (list $ weight delete-policy). */}}
{{- define "backscroll.provisionHook" -}}
{{- $root := index . 0 -}}
{{- if not $root.Values.nats.enabled }}
annotations:
  helm.sh/hook: pre-install,pre-upgrade
  helm.sh/hook-weight: {{ index . 1 | quote }}
  helm.sh/hook-delete-policy: {{ index . 2 }}
{{- end }}
{{- end -}}
