import { timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Launch stand-up: four days to go",
  daysAgo: 1,
  startsAt: "08:30",
  meetingType: "Stand-up",
  recorders: ["gwen.pritchard-owusu@wrackline.example"],
  participants: [
    { key: "gwen", name: "Gwen Pritchard-Owusu", email: "gwen.pritchard-owusu@wrackline.example" },
    { key: "piotr", name: "Piotr Wilkosz", email: "piotr.wilkosz@wrackline.example" },
    { key: "aurelie", name: "Aurélie Quémener", email: "aurelie.quemener@wrackline.example" },
    { key: "hana", name: "Hana Tsukada", email: "hana.tsukada@wrackline-japan.example" },
    { key: "nomvula", name: "Nomvula Khoza", email: "nomvula.khoza@wrackline.example" },
    { key: "lukas", name: "Lukas Brandtner", email: "lukas.brandtner@wrackline.example" },
  ],
  team: "Devices",
  sharedWithTeams: ["Customers", "Operations"],
  shareState: "restricted",
  tags: ["stand-up", "heron-2", "launch", "日本-launch"],
  language: "en",
  media: "video",
  slides: [
    {
      from: "They'll get a film of it. So: swap",
      until: "Number Nine's in the tank",
      by: "gwen",
      title: "Four days: what is left",
      chart: {
        kind: "list",
        items: [
          { text: "Large tank: 40 of 40 dry, signed", isDone: true },
          { text: "Pallet 2: 56 in place of 49" },
          { text: "Spare chains out at ten" },
          { text: "Factor confirmed by tomorrow evening" },
          { text: "Sticker: Hand-tight. No click. No tools." },
        ],
      },
    },
  ],
  highlights: [
    {
      from: "I've slept. The large tank has now been open",
      lines: 2,
      text: "Signed: all forty are dry",
      tags: ["heron-2", "launch"],
      by: "gwen.pritchard-owusu@wrackline.example",
    },
    {
      from: "A sticker over step four.",
      lines: 1,
      text: "Hand-tight. No click. No tools.",
      tags: ["design"],
      by: "nomvula.khoza@wrackline.example",
    },
  ],
  summary: [
    {
      text: "All forty units of the large tank are dry, and Piotr has signed it.",
      quote: "No salt on any of the shafts. I've signed it",
    },
    {
      heading: "Still to do",
      text: "One buoy is swapped: 56 takes the place of 49.",
      quote: "swap forty-nine for fifty-six",
    },
    {
      heading: "Still to do",
      text: "The spare chains that are too many come out.",
      quote: "Please take the additional ones out",
    },
    {
      heading: "Still to do",
      text: "A factor in the table of species is corrected and confirmed, or the estimate is switched off.",
      quote: "Samir corrects it today, and she checks tomorrow",
    },
    {
      heading: "Still to do",
      text: "A sticker goes over step four of the guide.",
      quote: "Stickers it is, in all languages, before the pallets are closed",
    },
  ],
  actionItems: [
    {
      line: "Then please take it out",
      text: "Swap buoy 49 for 56 on the second pallet",
      assignee: "aurelie",
    },
    { line: "The table that she sent us herself", text: "Correct the factor in the table of species" },
    {
      line: "Stickers it is, in all languages",
      text: "Write the text of the sticker by noon",
      assignee: "gwen",
      isDone: true,
    },
  ],
  segments: timed({ minutes: 6.8 }, [
    [
      "gwen",
      "Morning, everyone. Four days. Same round as always: what's done, what's in the way, and what did you notice that isn't yours. Piotr, I see you smiling, it's disturbing.",
    ],
    [
      "piotr",
      "I've slept. The large tank has now been open for two days, and I've also looked at all forty under the microscope, not only with the paper strips. No salt on any of the shafts. I've signed it.",
    ],
    ["gwen", "Signed. It's the nicest word of the month. And the firmware?"],
    [
      "piotr",
      "The release was built yesterday at ten, and the wall let it through on the first try. It's on all fifty-eight, and each one has sent one text to my phone. I've got fifty-eight messages that say 'check by hand'. My girlfriend thinks I've joined a sect.",
    ],
    ["aurelie", "Fifty-eight, or fifty-seven? I have one on the bench with a sticker saying 'later'."],
    [
      "piotr",
      "Ah. Number forty-nine. It did send its text, but it took two attempts. I put it aside. It's not one of the forty-four that we're shipping.",
    ],
    ["aurelie", "It is. Forty-nine is on the second pallet, in my list. It's one of Dollmar's."],
    [
      "piotr",
      "Then please take it out, and put in fifty-six. I'll look at forty-nine after launch. It's probably the antenna cable, but I don't understand it yet, so I don't ship it.",
    ],
    [
      "gwen",
      "Good, that's one swap. Is the protocol changed as well, Aurélie? The cap numbers go with the buoy.",
    ],
    [
      "aurelie",
      "I'll do it directly after this. Two caps, two lines. Otherwise: pallets one and two are packed, without forty-nine now. Pallet three's waiting for the foam, which comes tomorrow before noon. The air freight for Japan is strapped, weighed, and it's got eleven kilos more than in the papers.",
    ],
    ["hana", "Eleven kilos? What's in there?"],
    [
      "aurelie",
      "The spare chains. Somebody put two in for every buoy, not one. It's kind, but the customs form says twelve.",
    ],
    [
      "hana",
      "Please take the additional ones out. Customs would open all the boxes, and then we lose three days, and the south line is what matters. Moroboshi-san has the boat booked for exactly eight days from now.",
    ],
    ["aurelie", "They're coming out at ten. I need two people for half an hour."],
    ["lukas", "I'm one. I've got nothing to sell until eleven."],
    ["nomvula", "I'm the other one. I want to see the duck before it goes."],
    ["gwen", "Hana, how's the rest of Japan?"],
    [
      "hana",
      "The guide's printed, with the right word for mooring, and the man on page five wears gloves. The cooperative's first payment has come. The voice of Moroboshi senior is live on the test site. He rang me up to ask if it had frightened anybody yet.",
    ],
    ["gwen", "And has it?"],
    [
      "hana",
      "His wife. She tested it, at breakfast. What's in the way: the table for the species. Samir's finished, but Shirakura-san found that one of the factors is off by ten. It shows an estimate of fourteen thousand cells instead of fourteen hundred. That'd be a panic.",
    ],
    ["piotr", "Is it a comma, or is it the table?"],
    [
      "hana",
      "The table that she sent us herself, she apologised four times. Samir corrects it today, and she checks tomorrow. If it's not confirmed by the evening before, we'll switch the estimate off. It's one setting.",
    ],
    ["gwen", "Good. It's decided today and not in the last five minutes. Nomvula?"],
    [
      "nomvula",
      "Support is ready, mostly. We have a shift plan for the first ten days, seven to seven, and at night it's the on-call. Devika's first week starts on the day after. I've put the Heron 2 page in the manual, and I had my mother follow it. She got stuck at step four.",
    ],
    ["gwen", "What's in step four?"],
    [
      "nomvula",
      "'Turn the ring until it clicks.' It doesn't click. It goes tight, and then it's finished. She turned it until her hand hurt, waiting for a click.",
    ],
    [
      "piotr",
      "It clicked in the prototype. With the new seal, it doesn't any more. She's right. I should have told you.",
    ],
    ["lukas", "Mug!"],
    ["piotr", "It's only in the retro that it counts. No? Okay. One euro."],
    ["gwen", "But that's serious. If people go on turning, do they damage the seal?"],
    [
      "piotr",
      "Not by hand. With a pipe wrench, yes. And there'll be somebody with a pipe wrench, there always is.",
    ],
    ["nomvula", "Then it has to be changed on paper as well, not just online. How many are printed?"],
    ["gwen", "Two hundred in five languages. Hana, yours as well?"],
    [
      "hana",
      "Mine as well. In mine it says 'until you hear a sound like a small bell'. I'd found that so beautiful.",
    ],
    [
      "aurelie",
      "A sticker over step four. 'Hand-tight. No click. No tools.' I can get stickers by tomorrow, they cost eleven cents, Nomvula has the supplier.",
    ],
    ["nomvula", "I do have the supplier. I'm his favourite customer."],
    [
      "gwen",
      "Stickers it is, in all languages, before the pallets are closed. I'll write the text by noon, Hana and Aurélie check theirs, Lukas the German one. The web page I change right now. Lukas, your round?",
    ],
    [
      "lukas",
      "All forty-four have a confirmed address, and a person who's going to be there. In Gdynia, that took nine calls. Elmsrode gets theirs in the second wave, Frau Remmelmann set up the signal case at the dam herself, it's got two bars, so large antennas. And it didn't fall in the water.",
    ],
    ["gwen", "And Stennavoe?"],
    [
      "lukas",
      "Two units on pallet one, plus one duck. The ferry's in five days. Inga asked that you and Piotr bring your own towels.",
    ],
    [
      "piotr",
      "I've packed the towel. I've also packed a handheld, so that we've got three opinions about pen six: the old one, the new one, and mine.",
    ],
    [
      "nomvula",
      "Something that isn't mine: the 'we are blind' list. Rafael's down to three sites without a working number. One of them is the yacht club that left. Can somebody just delete them?",
    ],
    [
      "gwen",
      "I'll ask him. And something which isn't mine either: Inês wrote. She starts in about three weeks, and she'd like to have the build log of the release, just to read. Piotr, is that all right?",
    ],
    ["piotr", "She isn't even here yet, and she's reading my logs. Yes. Please. Send her everything."],
    [
      "aurelie",
      "And mine: Yannick and Solène are asking for a photo of the first pallet as it leaves. With the duck, if possible. He says he's bought one for the big lathe.",
    ],
    [
      "gwen",
      "They'll get a film of it. So: swap forty-nine for fifty-six, chains out at ten, the factor confirmed by tomorrow evening or else it's switched off, stickers on step four. Anything for the last five minutes?",
    ],
    ["piotr", "No. And if I think of something, then I'll think of it again tomorrow."],
    ["hana", "Number Nine's in the tank since this morning. Dry so far."],
    ["gwen", "Then it's a good day. Thank you, all. See you at the packing table."],
  ]),
};
