import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Anchor, Box, Button, Progress, Text } from "@mantine/core";
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
  readonly install: (model: M) => Promise<unknown>;
  readonly remove: (name: string) => Promise<unknown>;
  readonly queryKey: QueryKey;
  /** More to know about a model. */
  readonly facts?: (model: M) => readonly string[];
  /** What happens when a model is removed. */
  readonly afterRemoval: (model: M) => string;
}

/** Models that can be installed, with the progress of their downloads. */
export function Models<M extends Model>({
  models,
  family,
  children,
}: {
  models: readonly M[];
  family: Family<M>;
  /** Below the models. */
  children?: ReactNode;
}) {
  const { t } = useLingui();
  return (
    <Section title={t`Models`} lead={t`Files are checked against known hashes before they are used.`}>
      <Rows label={t`Models`}>
        {models.map((model) => (
          <ModelRow key={model.name} model={model} family={family} />
        ))}
      </Rows>
      {children === undefined ? null : <Box mt="md">{children}</Box>}
    </Section>
  );
}

function ModelRow<M extends Model>({ model, family }: { model: M; family: Family<M> }): ReactNode {
  const { t } = useLingui();
  const { name, state, bytes, source } = model;
  const path = pathOf(model);
  const install = useAction({ run: () => family.install(model), refresh: [family.queryKey] });
  const description = model.is_custom ? customDescription : descriptions[name];
  const size = number(megabytes(bytes));
  const [label, labelWithName] =
    state !== "failed"
      ? [t`Download model (${size} MB)`, t`Download model (${size} MB): ${name}`]
      : path === null
        ? [t`Resume download`, t`Resume download: ${name}`]
        : [t`Try again`, t`Try again: ${name}`];
  return (
    <Row
      title={name}
      badges={<StateTag model={model} />}
      facts={[
        path ?? (description === undefined ? model.description : t(description)),
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
          <CancelButton model={model} family={family} />
        ) : (
          <>
            {path === null ? null : <DismissButton name={name} family={family} />}
            <Button
              size="xs"
              variant={model.is_default ? "filled" : "light"}
              aria-label={labelWithName}
              loading={install.isPending}
              onClick={() => install.mutate()}
            >
              {label}
            </Button>
          </>
        )
      }
    >
      <Installation model={model} />
    </Row>
  );
}

/** The file that a model is installed from; null: it is downloaded. */
const pathOf = (model: Model): string | null => ("path" in model ? model.path : null);

/** How far a model's installation is, or why it failed. */
function Installation({ model }: { model: Model }): ReactNode {
  const { t } = useLingui();
  const { name, state, bytes, bytes_done: bytesDone, error } = model;
  const path = pathOf(model);
  if (state === "failed")
    return (
      <Alert
        mt={8}
        color="red"
        icon={<IconAlertTriangle aria-hidden />}
        title={path === null ? t`The download failed` : t`The installation failed`}
      >
        <ServerText text={error ?? ""} />
      </Alert>
    );
  if (state !== "installing") return null;
  const size = number(megabytes(bytes));
  const percentDone = bytes === 0 ? 0 : Math.floor((100 * bytesDone) / bytes);
  const progress = percent(percentDone / 100);
  return (
    <>
      <Text size="sm" mt={8} role="status" style={{ overflowWrap: "anywhere" }}>
        {path === null
          ? t`Downloading… ${progress} of ${size} MB`
          : bytes === 0
            ? t`Checking ${path}…`
            : t`Copying ${path}… ${progress} of ${size} MB`}
      </Text>
      <Progress
        value={percentDone}
        aria-label={path === null ? t`Download of ${name}` : t`Installation of ${name}`}
        mt={4}
      />
    </>
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

function CancelButton<M extends Model>({ model, family }: { model: M; family: Family<M> }) {
  const { t } = useLingui();
  const { name } = model;
  const isDownload = pathOf(model) === null;
  const cancel = useAction({
    run: () => family.remove(name),
    done: isDownload ? t`Download canceled.` : t`Installation canceled.`,
    refresh: [family.queryKey],
  });
  return (
    <Button
      size="xs"
      variant="subtle"
      aria-label={isDownload ? t`Cancel the download of ${name}` : t`Cancel the installation of ${name}`}
      loading={cancel.isPending}
      onClick={() => cancel.mutate()}
    >
      <Trans>Cancel</Trans>
    </Button>
  );
}

/** Removes the failed installation of a file from the list. */
function DismissButton<M extends Model>({ name, family }: { name: string; family: Family<M> }) {
  const { t } = useLingui();
  const dismiss = useAction({ run: () => family.remove(name), refresh: [family.queryKey] });
  return (
    <Button
      size="xs"
      variant="subtle"
      aria-label={t`Dismiss: ${name}`}
      loading={dismiss.isPending}
      onClick={() => dismiss.mutate()}
    >
      <Trans>Dismiss</Trans>
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
