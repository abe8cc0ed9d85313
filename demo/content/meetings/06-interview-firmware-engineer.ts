import { PAUSE, timed } from "../timeline.ts";
import type { DemoMeeting } from "../types.ts";

export const meeting: DemoMeeting = {
  title: "Interview: Inês Valadares, firmware engineer",
  daysAgo: 24,
  startsAt: "12:30",
  meetingType: "Interview",
  recorders: ["caitlin.nibhroin@wrackline.example"],
  participants: [
    { key: "ines", name: "Inês Valadares", email: "ines.valadares@cartasemcasa.example" },
    { key: "piotr", name: "Piotr Wilkosz", email: "piotr.wilkosz@wrackline.example" },
    { key: "devika", name: "Devika Raghunathan", email: "devika.raghunathan@wrackline.example" },
    { key: "caitlin", name: "Caitlín Ní Bhroin", email: "caitlin.nibhroin@wrackline.example" },
  ],
  sharedWithUsers: ["gwen.pritchard-owusu@wrackline.example"],
  shareState: "restricted",
  tags: ["hiring", "firmware", "interview-loop"],
  language: "en",
  segments: timed({ minutes: 37 }, [
    [
      "caitlin",
      "Hello Inês, lovely to see you again. I'm only going to open and close the door today. This is the technical conversation, with Piotr and Devika, about fifty minutes. You said by email that recording is fine, is it still?",
    ],
    [
      "ines",
      "It's still fine. Hello, everyone. My neighbour is renovating, so if you hear drilling, that's not me being nervous.",
    ],
    [
      "caitlin",
      "Perfect. The recording is only for the four of us and for Gwen, who meets you tomorrow, and we delete it when the role is filled. Over to Piotr.",
    ],
    [
      "piotr",
      "Hi. I'm Piotr, I do the firmware, at the moment all of it. Devika is my boss and also a better electronics engineer than me. Our idea is: you tell us about something you built, then we look at a piece of code together, then you ask us things.",
    ],
    [
      "devika",
      "And if a question is stupid, say so. We had a bad outage last week, so we've a high tolerance for hearing that.",
    ],
    [
      "ines",
      "I saw your status page. 'Alerts were not sent.' I thought, okay, these people can write a sentence.",
    ],
    ["devika", "Samir will be happy, he rewrote it three times. So, what did you build?"],
    [
      "ines",
      "The thing I'm proudest of is the whale tag. It's a small logger that you stick on a whale with a suction cup, from a pole. It stays on for about a day, falls off, floats, and then it has to shout until somebody comes and finds it.",
    ],
    ["piotr", "What's in it?"],
    [
      "ines",
      "A small microcontroller with sixty-four kilobytes of memory, pressure, a hydrophone, three axes of acceleration. One battery the size of a coin. And a radio that only works when it's at the surface, so perhaps for two seconds at a time.",
    ],
    ["devika", "How did you divide up the energy? Roughly, in numbers."],
    [
      "ines",
      "We had about two hundred and twenty milliamp hours. Half of it I kept for after it falls off, because a tag full of data that you can't find is worth nothing. So for the recording I had a hundred and ten, for thirty hours. That's three and a half milliamps on average.",
    ],
    ["ines", "The hydrophone alone took four. So that was the whole project, in one line of arithmetic."],
    ["piotr", "So what did you do?"],
    [
      "ines",
      "I didn't record all of it. I kept a ring of twenty seconds in memory, with a very cheap detector on it, only energy in three bands. When it thinks that there's a click, I write the ring to flash, including the part before. So you pay for the interesting four hours and not for thirty.",
    ],
    ["devika", "And if the detector is wrong?"],
    [
      "ines",
      "It's wrong all the time. On the first trip it triggered on the bubbles at the suction cup, and we came home with nineteen hours of beautiful bubbles. My professor played it at the Christmas party.",
    ],
    ["piotr", "I like that. I tasted the water in a leaking housing last month, so we're related."],
    ["ines", "Was it salt?"],
    ["piotr", "It was salt. How did you fix the bubbles?"],
    [
      "ines",
      "With the pressure. Bubbles come when it moves up fast. If the depth changes by more than one metre per second, the detector gets a higher threshold. It's not elegant, but the false ones went from eighty percent to eleven.",
    ],
    ["devika", "Who decided that eleven is good enough?"],
    ["ines", "I'd like to say that I did. The battery did. At eleven percent the budget closed."],
    ["devika", "That's the right answer, by the way. What was the worst bug in it?"],
    [
      "ines",
      "The worst one was that some tags never shouted. They fell off, they floated, and then nothing. We lost three of them. A tag costs about eight hundred euros and the data is worth a summer.",
    ],
    ["piotr", "And you couldn't ask them."],
    [
      "ines",
      "I couldn't ask them, they were in the Atlantic. So we had one that came back by luck, a fisherman brought it. Its clock said the year 2000. It had reset, in the moment when the radio first switched on.",
    ],
    ["piotr", "Brown-out."],
    [
      "ines",
      "Brown-out. Cold battery, eight degrees, after thirty hours it can't give the peak for the radio any more. The voltage dips, the chip resets, it starts from the beginning, and the beginning was: wait until you've been under water.",
    ],
    ["devika", "Oh, that's nasty. So it floated and waited for the whale."],
    [
      "ines",
      "It waited for a whale that had gone. I think it's the saddest state machine I've ever written.",
    ],
    ["piotr", "How did you fix it?"],
    [
      "ines",
      "Three things. A bigger capacitor, that's the real fix. The state is written to flash before the radio is switched on. And at start it asks: why have I woken up? If it was a brown-out, don't trust the state, look at the pressure, look at the time, and when in doubt, shout.",
    ],
    ["devika", "'When in doubt, shout.' We've a customer in Shetland who'd put that on a sticker."],
    [
      "piotr",
      "We needed that one last week. In our case the watchdog of the alerts was quiet when it should be loud.",
    ],
    ["ines", "May I ask what happened? You don't have to tell me."],
    [
      "piotr",
      "It's public more or less. I left a debug topic on in a release, four hundred buoys filled up the disk of the broker, and the check that should notice it used the same broker.",
    ],
    ["ines", "Ah. And how did you feel on that morning?"],
    ["piotr", "That's usually the question that we ask."],
    ["ines", "Sorry. You can ask me back."],
    [
      "piotr",
      "No, it's fine. I felt sick, and then at nine Devika came and asked what the build system let me believe, and not why I did it. After that I could work.",
    ],
    ["ines", "Good. That was one of the questions on my list, so I can cross it out."],
    [
      "devika",
      "You're efficient. Shall we go to the code? Piotr has prepared something. It's a real piece, from three years ago, with a real bug, which did cost us something.",
    ],
    [
      "piotr",
      "I've put it in the shared editor. About seventy lines of C. It reads the oxygen sensor over a serial line and puts the values in a buffer, and another part takes them out and sends them. You have ten minutes to read. Think aloud or be quiet, both are all right.",
    ],
    ["ines", "I'm a quiet reader. I'll say when I've got something."],
    [PAUSE, "9 min: reading the code"],
    [
      "ines",
      "Okay. May I ask, is the interrupt the only one that writes the head, and the main loop the only one that writes the tail?",
    ],
    ["piotr", "Yes, that's the idea."],
    [
      "ines",
      "Then on the ring itself I'd say it's nearly right. Head and tail aren't volatile, but that's the boring finding. On this chip, an index of sixteen bits is written in one go, so okay.",
    ],
    [
      "ines",
      "But here, line forty-one. The count is calculated as head minus tail, and it's compared with the size. At the wrap it's fine if both are unsigned. The tail is, and the head isn't. So after thirty-two thousand readings, the count is negative and the buffer believes it's empty.",
    ],
    ["piotr", "How long is that, with one reading each ten seconds?"],
    [
      "ines",
      "Three hundred and twenty-seven thousand seconds. So, a bit under four days. Three point eight.",
    ],
    ["devika", "You did that in your head?"],
    [
      "ines",
      "A day is eighty-six thousand four hundred seconds. When you make loggers, you know that number as you know your birthday.",
    ],
    [
      "piotr",
      "In the field it was a buoy that went silent every four days for about a minute, and then came back by the watchdog. We looked for it for three months. You took nine minutes, and I counted.",
    ],
    [
      "ines",
      "You knew it had a bug in it, that's a big help. In the field you didn't know that it's software.",
    ],
    ["devika", "True. But keep the compliment. Is there something else in it that you don't like?"],
    [
      "ines",
      "Yes, what happens when it's full. It throws away the new reading. For oxygen I'd throw away the oldest one. If the fish are dying now, I want to know about now.",
    ],
    [
      "piotr",
      "Hm. I'd disagree a little. If I lose the old ones, I lose the curve, and the slope is what the alarm uses.",
    ],
    ["ines", "How long is the buffer?"],
    ["piotr", "Sixty-four readings. So ten minutes."],
    [
      "ines",
      "Then when it's full, something's been broken for ten minutes. In that case I'd thin it out: throw away every second one of the old half. You keep the slope and you keep the present. It's a few lines more.",
    ],
    [
      "piotr",
      "That's, hm. That's better than what we have. Can you write it? Here in the editor, doesn't need to compile.",
    ],
    ["ines", "Give me ten minutes. I'll make it ugly first."],
    [PAUSE, "11 min: writing the thinning buffer"],
    [
      "ines",
      "So. This is the ugly one. When full, it walks through the older half, and copies every second one down, and moves the head. While it does that, the interrupt has to be off.",
    ],
    ["devika", "For how long?"],
    [
      "ines",
      "Thirty-two entries, of which sixteen are copied, twelve bytes each. On your chip perhaps thirty microseconds. At nine thousand six hundred baud, a byte is about one millisecond. So you lose none.",
    ],
    ["piotr", "And if somebody makes the buffer ten times larger next year?"],
    [
      "ines",
      "Then it's three hundred microseconds, still okay, but I'd write the number in a comment with the reason. Or better, a compile-time check that the size is under some limit, so that the person gets an error and not a poem.",
    ],
    ["devika", "An error and not a poem. We call that a wall and not a curtain, since last week."],
    [
      "ines",
      "I'd also test it on the desk and not on the buoy. This part has no hardware in it. You could compile it for the computer and throw a million random readings at it in a second.",
    ],
    ["piotr", "Do you do that as a habit?"],
    [
      "ines",
      "Since the bubbles, yes. Before that I tested like everyone else: I looked at it, and it blinked, and I was happy.",
    ],
    [
      "devika",
      "Let me ask about something that isn't on your CV. Our firmware runs on a real-time operating system, with tasks and queues and priorities. You've worked without one, as far as I see.",
    ],
    [
      "ines",
      "That's right. Always bare metal, one loop and interrupts. I've read about it, I've played with it over two weekends on a board. I'd be lying if I said more.",
    ],
    ["devika", "What do you think will be hard?"],
    [
      "ines",
      "I think priorities. In one loop I can see the order of things with my eyes. With tasks, something low holds a thing that something high needs, and in between runs a third one. I know the name for that, but I've never had it bite me at night.",
    ],
    [
      "devika",
      "It's bitten me. In my case it was a pump, and it emptied a swimming pool. How long would you give yourself, until you're useful here?",
    ],
    [
      "ines",
      "For tests, for drivers, for the buffers: the second week. For changing something in the scheduling, without Piotr looking: I'd say four months. If I say less, you shouldn't hire me.",
    ],
    ["piotr", "I'd look at it anyhow. I'd like that somebody looks at mine."],
    ["ines", "Is there nobody who reviews your code now?"],
    [
      "piotr",
      "Seun reads the part that talks to the platform. The rest, no. It's the honest answer. It's the reason for this position.",
    ],
    ["ines", "Then I'd have to be quite rude in the first month."],
    [
      "devika",
      "That's in the job description, in other words. One scenario, and then it's your turn. It's the day before a release. You find something odd, once in fifty starts the pressure sensor gives zero for the first reading. Gwen, the product manager, asks: can we ship?",
    ],
    ["ines", "What's the pressure used for?"],
    ["devika", "You tell me what you'd want it to be used for."],
    [
      "ines",
      "If it's only shown on a chart, I'd drop the first reading, write down that I did it and why, and ship. If the buoy decides from it whether it's sunk or floating, I wouldn't ship, because then zero means something.",
    ],
    [
      "ines",
      "And in both cases I'd say to Gwen: I don't understand it yet. Those are different sentences, 'it's harmless' and 'I've made it harmless'.",
    ],
    [
      "devika",
      "And if she says that the customer's waiting, and that it was delayed already? Because it was. By five weeks.",
    ],
    [
      "ines",
      "Then I'd say to her what could happen, in her words, not in mine. Not 'the register isn't initialised', but 'one in fifty buoys may think it's on the ground and stay silent'. And then she decides, with my name on the risk, too.",
    ],
    ["piotr", "That is more or less how we talked about the seal."],
    ["devika", "More or less, with more shouting by Lukas. Okay, your turn, what do you have on your list?"],
    ["ines", "Four things, one is crossed out. First one: what do I do in the first month, concretely?"],
    [
      "piotr",
      "The build check. The release must fail when a debug switch is on. I'm making the first version now, but after that there's a lot to be done, the whole set of tests on the desk. You'd begin there, because you'd see all of the code without the risk.",
    ],
    ["ines", "Good. Second: on call. Would I be woken?"],
    [
      "devika",
      "Not in the first half year. After that, one week in six, and only for device questions. It's paid per week, Caitlín has the number, and the day after a bad night is free.",
    ],
    [
      "ines",
      "Third: could I work from here, from Setúbal? I can come, but my mother lives with us, so not for always.",
    ],
    [
      "devika",
      "Four or five days a month in the office, with the tank and the oscilloscope. The rest from there. We'd send you a small tank, I'm not joking. Piotr has one in his bathroom.",
    ],
    ["piotr", "In the shower. My girlfriend has opinions."],
    ["ines", "Does it have a duck? Somebody in the first interview talked about a duck."],
    ["devika", "The duck lives in the office. It's called Number Eight and it has never leaked."],
    [
      "ines",
      "Then that's all, I think. Oh, one. The other candidates. I don't want to know who, but when will you decide?",
    ],
    [
      "caitlin",
      "I'll take that one. There's one other person at this stage. You'll meet Gwen tomorrow, we sit together in the afternoon after, and I'll call you within two days of that, whichever way it goes. By phone, not by email.",
    ],
    ["ines", "Thank you. That's clearer than I'm used to."],
    ["caitlin", "Is there anything you wish we'd asked?"],
    [
      "ines",
      "Perhaps about what I'm bad at. I'm slow with writing. Code is fine, but a document of two pages takes me three days. I'd rather say it now.",
    ],
    ["devika", "Samir took three drafts for one sentence. You'll be in good company."],
    [
      "piotr",
      "Thank you, Inês. I enjoyed that very much. I'd send you the real fix for line forty-one, but yours is shorter.",
    ],
    ["ines", "Thanks to you all. And good luck with the seal. The new one, I mean, not the animal. Or both."],
    ["caitlin", "Both. Talk tomorrow. Bye, Inês."],
  ]),
};
