import { Alert, Anchor, Button, Code, Progress, Text } from "@mantine/core";
import { IconAlertTriangle, IconCheck, IconInfoCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import {
  installSpeechModel,
  removeSpeechModel,
  type SpeechModel,
  type SpeechModels,
  speechModelsQuery,
} from "../../api/settings/speech-models.ts";
import { useAction } from "../../common/actions.tsx";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Loaded, Row, Rows, Section, SettingsPage, Tag } from "../parts.tsx";

const refresh = [speechModelsQuery.queryKey];

/** What transcribes recordings, and the models of the built-in engine. */
export function TranscriptionPage() {
  const query = useQuery(speechModelsQuery);
  return (
    <SettingsPage
      title="Transcription"
      lead="What transcribes new recordings. This applies to all workspaces of this server."
    >
      <Loaded query={query}>
        {(speech) => (
          <>
            <State speech={speech} />
            {speech.engine === "off" ? null : (
              <Models
                models={speech.models.filter(({ kind }) => speech.engine === "local" || kind === "speakers")}
              />
            )}
          </>
        )}
      </Loaded>
    </SettingsPage>
  );
}

function State({ speech: { engine, is_ready: isReady } }: { speech: SpeechModels }) {
  if (engine === "server")
    return (
      <Alert icon={<IconCheck aria-hidden />} title="A speech server transcribes recordings">
        It's set by <Code>PARLEY_TRANSCRIPTION_URL</Code>. The built-in engine can tell speakers apart where
        the server does not.
      </Alert>
    );
  if (engine === "off")
    return (
      <Alert icon={<IconInfoCircle aria-hidden />} title="Transcription is turned off">
        Remove <Code>PARLEY_TRANSCRIPTION=off</Code> from the server's settings to turn it on.
      </Alert>
    );
  return isReady ? (
    <Alert icon={<IconCheck aria-hidden />} title="Transcription is ready">
      New recordings are transcribed on this server. No audio leaves it.
    </Alert>
  ) : (
    <Alert icon={<IconInfoCircle aria-hidden />} title="Transcription is not set up">
      Download a model, and new recordings are transcribed on this server. No audio leaves it.
    </Alert>
  );
}

function Models({ models }: { models: readonly SpeechModel[] }) {
  return (
    <Section title="Models" lead="Files are checked against known hashes before they are used.">
      <Rows label="Models">
        {models.map((model) => (
          <ModelRow key={model.name} model={model} />
        ))}
      </Rows>
    </Section>
  );
}

function ModelRow({ model }: { model: SpeechModel }) {
  const { name, state, bytes, bytes_done: bytesDone, error, source } = model;
  const install = useAction({ run: () => installSpeechModel(name), refresh });
  const label = state === "failed" ? "Resume download" : `Download model (${megabytes(bytes)} MB)`;
  const percent = Math.floor((100 * bytesDone) / bytes);
  return (
    <Row
      title={name}
      badges={<StateTag model={model} />}
      facts={[
        model.description,
        model.license === null ? null : `License: ${model.license}`,
        model.attribution === null ? null : source === null ? (
          model.attribution
        ) : (
          <Anchor key="source" href={source} inherit>
            {model.attribution}
          </Anchor>
        ),
      ]}
      actions={
        state === "installed" ? (
          <RemoveButton model={model} />
        ) : state === "installing" ? (
          <CancelButton name={name} />
        ) : (
          <Button
            size="xs"
            variant={model.is_default ? "filled" : "light"}
            aria-label={`${label}: ${name}`}
            loading={install.isPending}
            onClick={() => install.mutate()}
          >
            {label}
          </Button>
        )
      }
    >
      {state === "installing" ? (
        <>
          <Text size="sm" mt={8} role="status">
            Downloading… {percent}% of {megabytes(bytes)} MB
          </Text>
          <Progress value={percent} aria-label={`Download of ${name}`} mt={4} />
        </>
      ) : null}
      {state === "failed" ? (
        <Alert mt={8} color="red" icon={<IconAlertTriangle aria-hidden />} title="The download failed">
          {error}
        </Alert>
      ) : null}
    </Row>
  );
}

function StateTag({ model: { state, is_custom: isCustom } }: { model: SpeechModel }) {
  if (isCustom) return <Tag tone="warn">Custom</Tag>;
  return state === "installed" ? <Tag tone="good">Installed</Tag> : null;
}

function CancelButton({ name }: { name: string }) {
  const cancel = useAction({ run: () => removeSpeechModel(name), done: "Download canceled.", refresh });
  return (
    <Button
      size="xs"
      variant="subtle"
      aria-label={`Cancel the download of ${name}`}
      loading={cancel.isPending}
      onClick={() => cancel.mutate()}
    >
      Cancel
    </Button>
  );
}

function RemoveButton({ model: { name, kind } }: { model: SpeechModel }) {
  return (
    <ConfirmButton
      text="Remove"
      button={{ "aria-label": `Remove ${name}` }}
      title={`Remove ${name}?`}
      label="Remove model"
      run={() => removeSpeechModel(name)}
      done={`${name} removed.`}
      refresh={refresh}
    >
      {kind === "speakers"
        ? "Speakers of new recordings are no longer told apart. Transcripts stay."
        : "The recording that is being transcribed with it finishes. Without another model, later recordings get no transcript. Transcripts stay."}
    </ConfirmButton>
  );
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}
