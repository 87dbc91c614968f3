"""Notes for tests that have nothing to do with one another, nor with what is looked for among them."""

UNRELATED = """The garden fence needs paint in spring
Our cat sleeps on the radiator
The train to Berlin leaves at nine
Grandmother's recipe has no sugar
The concert was cancelled because of rain
The new printer jams on thick paper
She learned to swim at forty
The museum is closed on Mondays
Replace the smoke detector battery
The marathon route crosses the old bridge
The library moved its opening hours
The dentist is away on Thursday
He paints landscapes in oil
The choir rehearses in the church
Bread dough must rest overnight
The glacier retreated by thirty metres
The bicycle has a flat tyre
We saw whales near the harbour
The thermostat is set to nineteen degrees
Chess club meets in the attic
The roses bloom in June
A fox lives behind the shed
The violin needs new strings
The tunnel will open next year
Tomatoes grow well against the wall
The lighthouse was built of granite
His passport expires in autumn
The kettle makes a strange noise
The river froze twice last winter
Volunteers planted two hundred trees
The stage lights were too bright
The baker opens at five
The ferry was late because of fog
The puppy chewed the carpet
The observatory welcomes visitors
Snow covers the mountain pass
The potter glazes cups in blue
The orchestra tours Japan
The well ran dry in August
The beekeeper moved three hives
The clock tower strikes noon
The sailing course starts in May
The sweater shrank in the wash
The ice rink has a new roof
The parrot imitates the telephone
The mosaic shows a dolphin
The old mill grinds flour again
The storm broke two windows
The scarf is made of wool
The canoe leaks a little""".splitlines()
