import { Button } from "@mantine/core";

/** A row's button that tries something again. @param name what it retries, for screen readers. */
export function RetryButton(props: {
  text?: string;
  name: string;
  retry: { readonly isPending: boolean; mutate(): void };
}) {
  const { text = "Retry", name, retry } = props;
  return (
    <Button
      variant="subtle"
      size="compact-sm"
      loading={retry.isPending}
      aria-label={`Retry ${name}`}
      onClick={() => retry.mutate()}
    >
      {text}
    </Button>
  );
}
