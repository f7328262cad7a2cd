{{- /* A JSON scalar or list of scalars is TOML too; a map is not. */}}
{{- define "backscroll.tomlValue" -}}
{{- if kindIs "map" . -}}
{{- $pairs := list -}}
{{- range $key, $value := . }}{{ $pairs = append $pairs (printf "%s = %s" (toJson $key) (toJson $value)) }}{{ end -}}
{ {{- join ", " $pairs -}} }
{{- else -}}
{{- toJson . -}}
{{- end -}}
{{- end -}}

{{- /* backscroll.toml: every setting that is no secret. */}}
{{- define "backscroll.toml" -}}
{{- if not (or .Values.engine.url .Values.engines) }}{{ fail "engine.url (or engines) is needed: what answers the requests" }}{{ end -}}
host = "0.0.0.0"
port = 8400
health_port = 8401
data_dir = "/tmp/backscroll"
qdrant_url = {{ include "backscroll.storeUrl" . | toJson }}
{{- with .Values.engine.url }}
engine_url = {{ . | toJson }}
{{- end }}
{{- with include "backscroll.modelUrl" (list . "embedding") }}
embed_url = {{ . | toJson }}
embed_model = {{ $.Values.embedding.model | toJson }}
embed_dim = {{ $.Values.embedding.dim | toJson }}
{{- end }}
{{- with include "backscroll.modelUrl" (list . "rerank") }}
rerank_url = {{ . | toJson }}
rerank_model = {{ $.Values.rerank.model | toJson }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{ $name }} = {{ include "backscroll.tomlValue" $value }}
{{- end }}
{{- range $i, $engine := .Values.engines }}

[[engines]]
{{- range $name, $value := omit $engine "existingSecret" }}
{{ $name }} = {{ $value | toJson }}
{{- end }}
{{- if $engine.existingSecret }}
api_key_env = "ENGINE_KEY_{{ $i }}"
{{- end }}
{{- end }}
{{ end -}}
