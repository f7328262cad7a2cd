{{- /* Address of NATS for one of its users: (list $ "gateway"). */}}
{{- define "backscroll.busEnv" -}}
{{- $root := index . 0 -}}
{{- $url := include "backscroll.busUrl" $root -}}
{{- with $root.Values.bus.existingSecret }}
- name: NATS_PASSWORD
  valueFrom: {secretKeyRef: {name: {{ . }}, key: {{ index $ 1 }}}}
- name: BACKSCROLL_NATS_URL
  value: {{ $url | replace "://" (printf "://%s:$(NATS_PASSWORD)@" (index $ 1)) | quote }}
{{- else }}
- name: BACKSCROLL_NATS_URL
  value: {{ $url | quote }}
{{- end }}
{{- end -}}

{{- define "backscroll.storeEnv" -}}
{{- with .Values.store.existingSecret }}
- name: BACKSCROLL_QDRANT_API_KEY
  valueFrom: {secretKeyRef: {name: {{ . }}, key: api-key}}
{{- end }}
{{- end -}}

{{- define "backscroll.engineEnv" -}}
{{- with .Values.engine.existingSecret }}
- name: BACKSCROLL_ENGINE_API_KEY
  valueFrom: {secretKeyRef: {name: {{ . }}, key: api-key}}
{{- end }}
{{- range $i, $engine := .Values.engines }}
{{- with $engine.existingSecret }}
- name: ENGINE_KEY_{{ $i }}
  valueFrom: {secretKeyRef: {name: {{ . }}, key: api-key}}
{{- end }}
{{- end }}
{{- with .Values.keys.existingSecret }}
- name: BACKSCROLL_KEYS_FILE
  value: /etc/backscroll-keys/keys.json
{{- end }}
{{- end -}}

{{- /* What all have. Everything without a secret in it is in the file. */}}
{{- define "backscroll.commonEnv" -}}
- name: BACKSCROLL_CONFIG
  value: /etc/backscroll/backscroll.toml
- name: TMPDIR
  value: /tmp
- name: HOME
  value: /tmp
{{- end -}}

{{- define "backscroll.mounts" -}}
- {name: config, mountPath: /etc/backscroll, readOnly: true}
- {name: tmp, mountPath: /tmp}
{{- end -}}

{{- define "backscroll.volumes" -}}
- name: config
  configMap: {name: {{ include "backscroll.fullname" . }}}
- name: tmp
  emptyDir: {sizeLimit: 1Gi}
{{- end -}}

{{- define "backscroll.keysMount" -}}
{{- if .Values.keys.existingSecret }}
- {name: keys, mountPath: /etc/backscroll-keys, readOnly: true}
{{- end }}
{{- end -}}

{{- define "backscroll.keysVolume" -}}
{{- with .Values.keys.existingSecret }}
- name: keys
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- end -}}
