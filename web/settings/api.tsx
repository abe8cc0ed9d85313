import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Anchor, Text } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { versionNames } from "../../contract/versions.ts";
import { Row, Rows, Section, SettingsPage } from "./parts.tsx";
import classes from "./settings.module.css";

/** How to call the API: a first request, recipes, and links to the reference. */
export function ApiPage() {
  const { t } = useLingui();
  const version = versionNames.at(-1) ?? "";
  return (
    <SettingsPage
      title="API"
      lead={t`The API covers everything in this app, with JSON over HTTP and an access token.`}
    >
      <Section
        title={t`First request`}
        lead={
          <Trans>
            Create an{" "}
            <Anchor component={Link} to="/settings/tokens" inherit underline="always">
              access token
            </Anchor>
            , replace the dots with it, and run this in a shell. It lists the newest recordings the token can
            access.
          </Trans>
        }
      >
        <Sample label={t`First request`} text={firstRequest(window.location.origin, version)} />
      </Section>
      <Section title={t`Recipes`} lead={t`Uses the setup above.`}>
        <div className={classes.samples}>
          {recipes.map(({ title, text }) => (
            <div key={text}>
              <Text fw={600} size="sm" mb={4} component="h3">
                {t(title)}
              </Text>
              <Sample label={t(title)} text={text} />
            </div>
          ))}
        </div>
      </Section>
      <Section title={t`Reference`}>
        <Rows label={t`Reference`}>
          {references.map(({ href, title, text }) => (
            <Row
              key={href}
              title={
                <Anchor href={href} fw={600} c="inherit">
                  {t(title)}
                </Anchor>
              }
              facts={[t(text)]}
            />
          ))}
        </Rows>
        <Text size="sm" c="dimmed" mt="sm">
          <Trans>
            Longer guides, such as receiving webhooks, uploading files or importing, are in{" "}
            <code>docs/guide</code> of the repository.
          </Trans>
        </Text>
      </Section>
    </SettingsPage>
  );
}

const references = [
  {
    href: "/docs",
    title: msg`API reference`,
    text: msg`Every operation with its parameters and responses. Try requests on the page.`,
  },
  { href: "/docs/errors", title: msg`Errors`, text: msg`What each error means and what to do about it.` },
  {
    href: "/docs/migration",
    title: msg`Moving between versions`,
    text: msg`What differs between the versions of the API.`,
  },
];

function firstRequest(origin: string, version: string): string {
  return `SERVER=${origin}
TOKEN=parley_pat_…
api() { curl -s "$SERVER/_/public-api/v2$1" "\${@:2}" \\
  -H "Authorization: Bearer $TOKEN" -H "Public-Api-Version: ${version}"; }

api /recordings -X POST`;
}

const recipes = [
  {
    title: msg`Find recordings by title, with participants`,
    text: `api /recordings -d '{"filter": {"title_search": "harbour"}, "include": {"participants": true}}'`,
  },
  { title: msg`Read a transcript`, text: "api /recordings/RECORDING_ID/transcript.txt" },
  {
    title: msg`Save the file of a recording`,
    text: "api /recordings/RECORDING_ID/download -L -o meeting.mp4",
  },
  {
    title: msg`Tag a recording`,
    text: `api /recordings/RECORDING_ID/tags -X PUT -d '{"tag": "contracts"}'`,
  },
] as const;

/** Shell commands with a copy button. */
function Sample({ label, text }: { label: string; text: string }) {
  const { t } = useLingui();
  const clipboard = useClipboard({ timeout: 2500 });
  return (
    <div className={classes.sample}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
      <section tabIndex={0} aria-label={t`Commands: ${label}`}>
        <pre>{text}</pre>
      </section>
      <ActionIcon
        variant="default"
        aria-label={clipboard.copied ? t`Copied: ${label}` : t`Copy: ${label}`}
        onClick={() => clipboard.copy(text)}
      >
        {clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </ActionIcon>
    </div>
  );
}
