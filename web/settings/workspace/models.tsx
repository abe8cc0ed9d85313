import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Anchor, Button, Progress, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { QueryKey } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { LanguageModel, SpeechModel } from "../../api/settings/models.ts";
import { useAction } from "../../common/actions.tsx";
import { number, percent } from "../../common/format/numbers.ts";
import { ServerText } from "../../common/format/server-text.tsx";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { Row, Rows, Section, Tag } from "../parts.tsx";

type Model = SpeechModel | LanguageModel;

/** Descriptions of the models that are offered, by name. */
const descriptions: Readonly<Record<string, MessageDescriptor>> = {
  "parakeet-v3": msg`Transcribes 25 European languages and detects the language.`,
  "whisper-small": msg`Transcribes about 100 languages, slower and less accurately than parakeet-v3.`,
  speakers: msg`Tells the speakers of a recording apart.`,
  "qwen3-4b": msg`Writes summaries and replies to questions about meetings, in about 100 languages.`,
  "qwen3-1.7b": msg`For machines with little memory; faster and less accurate than qwen3-4b.`,
};
const customDescription = msg`A custom model, installed from a folder or file.`;

/** What differs between models of speech and of language. */
interface Family<M extends Model> {
  readonly install: (name: string) => Promise<unknown>;
  readonly remove: (name: string) => Promise<unknown>;
  readonly queryKey: QueryKey;
  /** More to know about a model. */
  readonly facts?: (model: M) => readonly string[];
  /** What happens when a model is removed. */
  readonly afterRemoval: (model: M) => string;
}

/** Models that can be installed, with the progress of their downloads. */
export function Models<M extends Model>({ models, family }: { models: readonly M[]; family: Family<M> }) {
  const { t } = useLingui();
  return (
    <Section title={t`Models`} lead={t`Files are checked against known hashes before they are used.`}>
      <Rows label={t`Models`}>
        {models.map((model) => (
          <ModelRow key={model.name} model={model} family={family} />
        ))}
      </Rows>
    </Section>
  );
}

function ModelRow<M extends Model>({ model, family }: { model: M; family: Family<M> }): ReactNode {
  const { t } = useLingui();
  const { name, state, bytes, bytes_done: bytesDone, error, source } = model;
  const install = useAction({ run: () => family.install(name), refresh: [family.queryKey] });
  const description = model.is_custom ? customDescription : descriptions[name];
  const size = number(megabytes(bytes));
  const [label, labelWithName] =
    state === "failed"
      ? [t`Resume download`, t`Resume download: ${name}`]
      : [t`Download model (${size} MB)`, t`Download model (${size} MB): ${name}`];
  const percentDone = Math.floor((100 * bytesDone) / bytes);
  const progress = percent(percentDone / 100);
  return (
    <Row
      title={name}
      badges={<StateTag model={model} />}
      facts={[
        description === undefined ? model.description : t(description),
        ...(family.facts?.(model) ?? []),
        model.license === null ? null : t`License: ${{ license: model.license }}`,
        model.attribution === null ? null : source === null ? (
          <span key="source" lang="en">
            {model.attribution}
          </span>
        ) : (
          <Anchor key="source" href={source} inherit lang="en">
            {model.attribution}
          </Anchor>
        ),
      ]}
      actions={
        state === "installed" ? (
          <RemoveButton model={model} family={family} />
        ) : state === "installing" ? (
          <CancelButton name={name} family={family} />
        ) : (
          <Button
            size="xs"
            variant={model.is_default ? "filled" : "light"}
            aria-label={labelWithName}
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
            <Trans>
              Downloading… {progress} of {size} MB
            </Trans>
          </Text>
          <Progress value={percentDone} aria-label={t`Download of ${name}`} mt={4} />
        </>
      ) : null}
      {state === "failed" ? (
        <Alert mt={8} color="red" icon={<IconAlertTriangle aria-hidden />} title={t`The download failed`}>
          <ServerText text={error ?? ""} />
        </Alert>
      ) : null}
    </Row>
  );
}

function StateTag({ model: { state, is_custom: isCustom } }: { model: Model }) {
  if (isCustom)
    return (
      <Tag tone="warn">
        <Trans>Custom</Trans>
      </Tag>
    );
  return state === "installed" ? (
    <Tag tone="good">
      <Trans>Installed</Trans>
    </Tag>
  ) : null;
}

function CancelButton<M extends Model>({ name, family }: { name: string; family: Family<M> }) {
  const { t } = useLingui();
  const cancel = useAction({
    run: () => family.remove(name),
    done: t`Download canceled.`,
    refresh: [family.queryKey],
  });
  return (
    <Button
      size="xs"
      variant="subtle"
      aria-label={t`Cancel the download of ${name}`}
      loading={cancel.isPending}
      onClick={() => cancel.mutate()}
    >
      <Trans>Cancel</Trans>
    </Button>
  );
}

function RemoveButton<M extends Model>({ model, family }: { model: M; family: Family<M> }) {
  const { t } = useLingui();
  const { name } = model;
  return (
    <ConfirmButton
      text={t`Remove`}
      button={{ "aria-label": t`Remove ${name}` }}
      title={t`Remove ${name}?`}
      label={t`Remove model`}
      run={() => family.remove(name)}
      done={t`${name} removed.`}
      refresh={[family.queryKey]}
    >
      {family.afterRemoval(model)}
    </ConfirmButton>
  );
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}
