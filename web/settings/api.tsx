import { ActionIcon, Anchor, Text } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { versionNames } from "../../contract/versions.ts";
import { Row, Rows, Section, SettingsPage } from "./parts.tsx";
import classes from "./settings.module.css";

/** How a program calls the server: the first request, some more, and where everything is written down. */
export function ApiPage() {
  const version = versionNames.at(-1) ?? "";
  return (
    <SettingsPage
      title="API"
      lead="Everything this app does, programs can do as well: with a token, over HTTP, in JSON."
    >
      <Section
        title="First request"
        lead={
          <>
            Make an{" "}
            <Anchor component={Link} to={"/settings/tokens" as string} inherit underline="always">
              access token
            </Anchor>
            , put it in the place of the dots, and run this in a shell. It lists the newest recordings that
            the token sees.
          </>
        }
      >
        <Sample label="First request" text={firstRequest(window.location.origin, version)} />
      </Section>
      <Section title="Recipes" lead="After the first lines of the above.">
        <div className={classes.samples}>
          {recipes.map(({ title, text }) => (
            <div key={title}>
              <Text fw={600} size="sm" mb={4} component="h3">
                {title}
              </Text>
              <Sample label={title} text={text} />
            </div>
          ))}
        </div>
      </Section>
      <Section title="To look things up">
        <Rows label="To look things up">
          {places.map(({ href, title, text }) => (
            <Row
              key={href}
              title={
                <Anchor href={href} fw={600} c="inherit">
                  {title}
                </Anchor>
              }
              facts={[text]}
            />
          ))}
        </Rows>
        <Text size="sm" c="dimmed" mt="sm">
          Guides with longer recipes, such as receiving hooks, uploading files or importing, lie with the
          program in <code>docs/guide</code>.
        </Text>
      </Section>
    </SettingsPage>
  );
}

const places = [
  {
    href: "/docs",
    title: "API reference",
    text: "Every operation with its parameters and answers, to be tried out on the page.",
  },
  { href: "/docs/errors", title: "Errors", text: "What each error means and what to do about it." },
  {
    href: "/docs/migration",
    title: "Moving between versions",
    text: "What differs between the versions of the API.",
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
    title: "Find recordings by title, with who took part",
    text: `api /recordings -d '{"filter": {"title_search": "harbour"}, "include": {"participants": true}}'`,
  },
  { title: "Read a transcript", text: "api /recordings/RECORDING_ID/transcript.txt" },
  { title: "Save the file of a recording", text: "api /recordings/RECORDING_ID/download -L -o meeting.mp4" },
  {
    title: "Tag a recording",
    text: `api /recordings/RECORDING_ID/tags -X PUT -d '{"tag": "contracts"}'`,
  },
] as const;

/** Lines to be copied into a shell. */
function Sample({ label, text }: { label: string; text: string }) {
  const clipboard = useClipboard({ timeout: 2500 });
  return (
    <div className={classes.sample}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard. */}
      <section tabIndex={0} aria-label={`Lines: ${label}`}>
        <pre>{text}</pre>
      </section>
      <ActionIcon
        variant="default"
        aria-label={clipboard.copied ? `Copied: ${label}` : `Copy: ${label}`}
        onClick={() => clipboard.copy(text)}
      >
        {clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
      </ActionIcon>
    </div>
  );
}
